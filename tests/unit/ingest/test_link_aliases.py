from ingest.link.aliases import proposals


def test_proposes_labels_that_look_alike():
    assert proposals(["review", "preview", "escape wheel"]) == (("preview", "review", 92.3),)
    assert proposals(["shadow branch", "shadow branche", "oak"]) == (
        ("shadow branch", "shadow branche", 96.3),
    )


def test_proposes_nothing_for_short_or_unlike_labels():
    assert proposals(["api", "app", "dial", "drum", "quay wall"]) == ()


def test_the_order_of_labels_changes_nothing():
    labels = ["timestamp", "timestamps", "time stamp", "Timestamp"]
    assert proposals(labels) == proposals(reversed(labels))
    assert proposals(labels)[0] == ("Timestamp", "timestamp", 100.0)
