"""One run of the scout and what is shown of it: gates, order, red lines, renderings."""

import json
import sys

import pytest
from pydantic import ValidationError

import topology
from graphstore import plugins
from graphstore.errors import GraphTooLarge, UnknownShape
from graphstore.model.view import GENERIC, STOP
from topology import gates, rank
from topology.model import (
    Amount,
    Control,
    Demand,
    Limits,
    Member,
    Rejection,
    Seed,
    SeedRef,
    ShapeSkipped,
    Truncation,
)
from topology.report import Reread, report, sentence, to_json, to_markdown, to_table
from topology.scout import check_size


def a_seed(**changes):
    plain = {
        "seed_id": "s:1",
        "shape": "island",
        "kind": "component",
        "level": 0,
        "members": (Member(role="member", node_id="q:1"),),
        "score": 1.0,
        "sentence": "{member} stands alone.",
        "refs": (SeedRef(ref="thread:s:1#turn:1", side="member"),),
        "demands": (Demand(side="member"),),
    }
    return Seed(**{**plain, **changes})


@pytest.fixture
def scouted(two_groups):
    return topology.scout(two_groups.view(), None, Limits(k_min=4))


class TestGates:
    def lineage(self, ref):
        return {"1": 1, "2": 1, "3": 3}[ref[9]]

    def refs(self, *pairs):
        return tuple(SeedRef(ref=f"thread:s:{at}#turn:1", side=side) for at, side in pairs)

    def test_a_seed_without_demands_passes(self):
        assert gates.shortfall(a_seed(demands=(), refs=()), self.lineage) == ()

    def test_a_side_without_ref_is_named_once(self):
        demands = (Demand(side="a", reason="x"), Demand(side="b", reason="x"))
        assert gates.shortfall(a_seed(demands=demands, refs=()), self.lineage) == ("x",)
        refs = self.refs((1, "a"), (1, "b"))
        assert gates.shortfall(a_seed(demands=demands, refs=refs), self.lineage) == ()

    def test_threads_of_one_lineage_are_one(self):
        demands = (Demand(side="", refs=2, threads=2, reason="needs_more_threads"),)
        same = a_seed(demands=demands, refs=self.refs((1, "a"), (2, "b")))
        other = a_seed(demands=demands, refs=self.refs((1, "a"), (3, "b")))
        assert gates.shortfall(same, self.lineage) == ("needs_more_threads",)
        assert gates.shortfall(other, self.lineage) == ()

    def test_one_ref_for_two_sides_is_one_ref(self):
        demands = (Demand(side="", refs=2, reason="x"),)
        seed = a_seed(demands=demands, refs=self.refs((1, "a"), (1, "b")))
        assert gates.shortfall(seed, self.lineage) == ("x",)

    def test_only_refs_that_resolve_carry(self):
        assert gates.carried_by(a_seed(), lambda _: True, self.lineage)
        assert not gates.carried_by(a_seed(), lambda _: False, self.lineage)


class TestOrder:
    def test_shapes_take_turns_and_computed_come_first(self):
        seeds = [
            a_seed(seed_id="s:i1", rank=1),
            a_seed(seed_id="s:i2", rank=2),
            a_seed(seed_id="s:c1", shape="cut_point", rank=1),
            a_seed(seed_id="s:z1", shape="zebra", rank=1),
            a_seed(seed_id="s:n1", shape="cut_point", rank=1, provenance="annotated"),
        ]
        ordered = [seed.seed_id for seed in rank.interleaved(seeds)]
        assert ordered == ["s:c1", "s:i1", "s:z1", "s:i2", "s:n1"]

    def test_annotated_are_numbered_behind_computed(self):
        seeds = [a_seed(seed_id="s:n", provenance="annotated"), a_seed(seed_id="s:c")]
        assert [(s.seed_id, s.rank) for s in rank.numbered(seeds)] == [("s:c", 1), ("s:n", 2)]

    def test_a_bridge_is_related_to_its_inner_end_only(self):
        cut = [Member(role="cut", node_id=name) for name in ("c:u", "c:v")]
        sizes = (Amount(name="side_a", value=9), Amount(name="side_b", value=3))
        bridge = a_seed(seed_id="s:b", members=tuple(cut), sizes=sizes)
        inner = a_seed(seed_id="s:u", members=(cut[0],))
        outer = a_seed(seed_id="s:v", members=(cut[1],))
        elsewhere = a_seed(seed_id="s:w", members=(cut[0],), level=1)
        found = {s.seed_id: s.related for s in rank.related([bridge, inner, outer, elsewhere])}
        assert found == {"s:b": ("s:u",), "s:u": ("s:b",), "s:v": (), "s:w": ()}


class TestRun:
    def test_public_names_are_sorted(self):
        assert topology.__all__ == sorted(topology.__all__)
        assert set(topology.shape_names()) >= {"island", "weak_bridge", "cut_point"}

    def test_every_seed_carries_the_hashes_of_its_run(self, scouted):
        assert {s.view_hash for s in scouted.seeds} == {scouted.view_hash}
        assert {s.params_hash for s in scouted.seeds} == {scouted.params_hash}

    def test_parameters_and_shapes_change_the_parameter_hash(self, two_groups):
        view = two_groups.view()
        runs = [
            topology.scout(view, shapes, limits).params_hash
            for shapes, limits in (
                (None, Limits()),
                (["island"], Limits()),
                (None, Limits(k_min=4)),
                (None, Limits(stop="b2:other")),
                (None, Limits(scope="b2:other")),
            )
        ]
        assert len(set(runs)) == 5

    def test_unknown_shape_is_an_error_that_names_the_known(self, two_groups):
        with pytest.raises(UnknownShape, match="no shape named blob; known: cut_point, cycle"):
            topology.scout(two_groups.view(), ["blob"], Limits())

    def test_one_level_can_be_asked_for(self, two_groups):
        for level in (0, 1):
            found = topology.scout(two_groups.view(), None, Limits(k_min=2, level=level)).seeds
            assert {seed.level for seed in found} <= {level}
            assert found

    def test_top_caps_each_shape_and_the_rest_is_counted(self, two_groups):
        for at in range(3):
            words = [f"c:c-{at}", f"c:c-{(at + 1) % 3}"]
            two_groups.ask(f"s:c{at}", f"q:c-{at}", *words, day=100 + at)
        two_groups.mention("q:b-1", "c:c-0", ("s:b1", 3))
        scouted = topology.scout(two_groups.view(), ["weak_bridge"], Limits(k_min=2, top=1))
        (metrics,) = scouted.metrics
        assert len(scouted.seeds) == metrics.reported == 1
        assert metrics.found > 1

    def test_without_the_engine_the_other_shapes_still_work(self, two_groups, monkeypatch):
        monkeypatch.setitem(sys.modules, "igraph", None)
        scouted = topology.scout(two_groups.view(), None, Limits(k_min=4))
        assert {skipped.shape for skipped in scouted.skipped} == {"knot"}
        assert {skipped.reason for skipped in scouted.skipped} == {"engine_missing"}
        assert {seed.shape for seed in scouted.seeds} >= {"cycle", "weak_bridge"}

    def test_a_broken_plugin_is_skipped(self, two_groups, monkeypatch):
        monkeypatch.setattr(plugins, "load", lambda *_: None)
        scouted = topology.scout(two_groups.view(), ["island"], Limits())
        assert scouted.skipped == (ShapeSkipped(shape="island", reason="plugin_broken"),)

    def test_a_cut_that_does_not_part_is_withheld_and_counted(self, two_groups, monkeypatch):
        monkeypatch.setattr(sys.modules["topology.scout"], "holds", lambda *_: False)
        scouted = topology.scout(two_groups.view(), ["weak_bridge"], Limits(k_min=4))
        assert scouted.seeds == ()
        assert scouted.false_positives == scouted.metrics[0].withheld > 0

    def test_hidden_hubs_say_which_rule_hit(self, sketch):
        for at in range(8):
            sketch.ask(f"s:{at}", f"q:{at}", "c:often", "c:both")
        sketch.mention("q:0", "c:stopped", ("s:0", 3), STOP)
        sketch.mention("q:0", "c:marked", ("s:0", 3), GENERIC)
        scouted = topology.scout(sketch.view(), [], Limits())
        assert [(hub.concept_id, hub.df, hub.rule) for hub in scouted.hidden_hubs] == [
            ("c:both", 8, "df"),
            ("c:often", 8, "df"),
            ("c:marked", 1, "marked"),
            ("c:stopped", 1, "stop_list"),
        ]
        assert topology.scout(sketch.view(), [], Limits(hub_df=8)).hidden_hub_count == 2

    def test_a_name_that_more_lineages_carry_than_say_is_a_hub(self, sketch):
        for at in range(3):
            sketch.ask(f"s:{at}", f"q:{at}", "c:tool")
        sketch.change("c:tool", carried=5)
        assert topology.scout(sketch.view(), [], Limits(hub_df=5)).hidden_hubs == ()
        sketch.change("c:tool", carried=6)
        (hub,) = topology.scout(sketch.view(), [], Limits(hub_df=5)).hidden_hubs
        assert (hub.concept_id, hub.df, hub.rule) == ("c:tool", 3, "name")

    def test_a_foreign_graph_has_no_hub_rule_and_no_gates(self, two_groups):
        scouted = topology.scout(two_groups.view(has_refs=False), ["weak_bridge"], Limits(k_min=4))
        assert not scouted.source_backed
        assert all(seed.demands == () for seed in scouted.seeds)


class TestSeedValue:
    @pytest.mark.parametrize(
        "change",
        [
            {"authority": "fact"},
            {"foreground": True},
            {"reopen_required": False},
            {"next": "act"},
            {"level": 3},
            {"extra": 1},
        ],
    )
    def test_no_other_standing_can_be_built(self, change):
        with pytest.raises(ValidationError):
            Seed.model_validate({**a_seed().model_dump(), **change})

    def test_a_seed_survives_json(self, scouted):
        for seed in scouted.seeds:
            assert Seed.from_json(seed.model_dump_json()) == seed


def counts(found):
    return {line.name: line.count for line in found.red_lines if line.count}


class TestSize:
    def test_a_graph_fits_while_it_needs_at_most_its_share_of_memory(self):
        check_size(10, 6, 3000)
        with pytest.raises(GraphTooLarge):
            check_size(10, 6, 2999)

    def test_positions_have_32_bits(self):
        check_size(2**31 - 2, 1, 10**12)
        with pytest.raises(GraphTooLarge) as caught:
            check_size(2**31 - 1, 1, 10**12)
        assert (caught.value.nodes, caught.value.edges) == (2**31 - 1, 1)


class TestReport:
    def one(self, scouted, **changes):
        return scouted.replace(seeds=(a_seed(**changes),), rejected=(), truncated=())

    def test_a_clean_run_is_ok_and_the_same_bytes_twice(self, scouted):
        found = report(scouted, {})
        assert found.ok
        assert counts(found) == {}
        assert to_json(found) == to_json(report(scouted, {}))
        assert json.loads(to_json(found))["schema"] == "clew.scout/1"
        assert found.ref_coverage == found.sized_cuts == 1.0

    def test_labels_fill_sentences_clipped_and_on_one_line(self, scouted):
        long = "word\n" * 50
        found = report(scouted, {"s:a0": long})
        clipped = '"' + " ".join(["word"] * 16) + '\u2026"'
        assert any(clipped in seed.sentence for seed in found.seeds)
        assert all(len(seed.sentence) < 400 for seed in found.seeds)

    def test_one_of_a_thing_is_said_in_the_singular(self):
        seed = a_seed(
            sentence="{q} questions in {t} threads stand alone.",
            numbers=(Amount(name="q", value=1), Amount(name="t", value=2)),
        )
        assert sentence(seed, {}) == "1 question in 2 threads stand alone."

    def test_braces_in_a_label_stay_words(self):
        assert sentence(a_seed(), {"q:1": "{score} {0}"}) == '"{score} {0}" stands alone.'

    def test_public_form_has_ids_only(self, scouted):
        labels = {node: "CANARY" for seed in scouted.seeds for node in [seed.members[0].node_id]}
        public = report(scouted, labels, public=True)
        for text in (to_json(public).decode(), to_table(public), to_markdown(public)):
            assert "CANARY" not in text
        assert "CANARY" in to_table(report(scouted, labels))

    def test_run_id_follows_view_parameters_and_notes(self, scouted):
        one, two = report(scouted, {}), report(scouted, {}, notes_hash="b2:n")
        assert one.run_id == report(scouted, {"s:a0": "x"}).run_id != two.run_id

    @pytest.mark.parametrize(
        ("line", "change"),
        [
            ("local_path", {"sentence": "see /home/someone/file"}),
            ("local_path", {"sentence": "see ~/notes"}),
            ("local_path", {"sentence": "see C:\\notes"}),
            ("local_path", {"sentence": "see \\\\host\\share"}),
            ("local_path", {"sentence": "see file://x"}),
            ("source_handle", {"sentence": "from chat.jsonl"}),
            ("source_handle", {"members": (Member(role="member", node_id="raw handle"),)}),
        ],
    )
    def test_a_planted_violation_is_caught_and_withheld(self, scouted, line, change):
        found = report(self.one(scouted, **change), {})
        assert counts(found) == {line: 1}
        assert (found.ok, found.seeds, found.withheld) == (False, (), 1)

    def test_words_of_a_turn_in_public_text_are_caught(self, scouted):
        words = "these are private words of a turn"
        leaking = self.one(scouted, sentence=f"{{member}} says these  are private words {1}")
        assert counts(report(leaking, {}, Reread(texts=(words,)))) == {"private_text": 1}
        assert report(leaking, {}, Reread(texts=("something else entirely here",))).ok

    def test_a_turn_may_quote_an_id(self, scouted):
        member = Member(role="member", node_id="q:0123456789abcdef0123456789abcdef")
        found = report(self.one(scouted, members=(member,)), {}, Reread(texts=(member.node_id,)))
        assert found.ok

    def test_a_constant_that_was_forced_is_caught(self, scouted):
        forged = a_seed()
        object.__setattr__(forged, "__dict__", {**forged.__dict__, "foreground": True})
        broken = self.one(scouted)
        object.__setattr__(broken, "__dict__", {**broken.__dict__, "seeds": (forged,)})
        assert counts(report(broken, {})) == {"foreground_leak": 1}

    def test_a_rejected_or_controlled_candidate_among_the_seeds_is_caught(self, scouted):
        rejected = Rejection(shape="island", seed_id="s:1", reasons=("x",))
        control = Control(reason="vocabulary", subject="s:1")
        for change in ({"rejected": (rejected,)}, {"controls": (control,)}):
            found = report(self.one(scouted).replace(**change), {})
            assert counts(found) == {"false_positive": 1}

    def test_a_failed_second_proof_is_a_red_line(self, scouted):
        assert counts(report(self.one(scouted).replace(false_positives=2), {})) == {
            "false_positive": 2
        }

    def test_refs_that_no_longer_resolve_are_caught(self, scouted):
        one = self.one(scouted)
        assert counts(report(one, {}, Reread(resolved=()))) == {"unsupported_seed": 1}
        assert report(one, {}, Reread(resolved=("thread:s:1#turn:1",))).ok

    def test_a_resumed_thread_is_no_second_witness_when_read_again(self, scouted):
        refs = tuple(SeedRef(ref=f"thread:s:{at}#turn:1", side="a") for at in (1, 2))
        demands = (Demand(side="", refs=2, threads=2),)
        one = self.one(scouted, refs=refs, demands=demands)
        resolved = tuple(ref.ref for ref in refs)
        assert report(one, {}, Reread(resolved=resolved)).ok
        same = Reread(resolved=resolved, lineages=(("s:2", "s:1"),))
        assert counts(report(one, {}, same)) == {"unsupported_seed": 1}

    def test_annotated_above_computed_is_caught(self, scouted):
        seeds = (a_seed(provenance="annotated"), a_seed(seed_id="s:2"))
        found = report(scouted.replace(seeds=seeds, rejected=()), {})
        assert counts(found) == {"annotated_outranks": 1}

    def test_dreams_in_the_view_are_a_red_line(self, scouted):
        found = report(scouted.replace(dreamt_rows=3), {})
        assert counts(found) == {"dream_in_view": 3}
        assert (found.seeds, found.withheld) == ((), len(scouted.seeds))

    def test_what_cannot_be_claimed(self, scouted):
        one = self.one(scouted)
        cut = Truncation(shape="cycle", what="edges", done=1, of=2)
        view = one.view.replace(undated=0)
        plain = set(report(one.replace(view=view), {}).cannot_claim)
        assert plain >= {"facts", "causes", "text_was_reread", "history"}
        assert "themes" not in plain
        apart = one.communities.replace(verdict="communities_disagree")
        assert "themes" in report(one.replace(communities=apart), {}).cannot_claim
        more = one.replace(truncated=(cut,), source_backed=False, seeds=(a_seed(soft=True),))
        assert set(report(more, {}).cannot_claim) - plain == {
            *("complete_list", "hub_free_structure", "source_backed", "undated_order"),
        }

    def test_renderings_tell_the_whole_account(self, scouted):
        full = self.one(scouted, sizes=(Amount(name="member", value=3),)).replace(
            rejected=(Rejection(shape="cycle", seed_id="s:9", reasons=("few", "old")),),
            skipped=(ShapeSkipped(shape="knot", reason="engine_missing"),),
            truncated=(Truncation(shape="cycle", what="edges", done=1, of=2),),
            false_positives=1,
        )
        found = report(full, {"q:1": "Why?"})
        for text in (to_table(found), to_markdown(found)):
            for part in (
                *(
                    '"Why?" stands alone.',
                    "member 3",
                    "thread:s:1#turn:1",
                    "red line false_positive",
                ),
                *("rejected, few: 1", "knot skipped: engine_missing", "cycle: edges, 1 of 2 done"),
            ):
                assert part in text
        assert "[thread:s:1#turn:1](#thread:s:1#turn:1)" in to_markdown(found)

    def test_nothing_found_is_said_with_the_reason(self, sketch):
        sketch.ask("s:1", "q:1", "c:1")
        found = report(topology.scout(sketch.view(), None, Limits()), {})
        assert "nothing found: 1 components, 3 nodes, the largest with 3" in to_table(found)

    def test_generic_concepts_are_named(self, sketch):
        sketch.ask("s:1", "q:1")
        sketch.mention("q:1", "c:code", ("s:1", 3), STOP)
        scouted = topology.scout(sketch.view(), None, Limits())
        assert "1 generic concept set aside: c:code (1)" in to_table(report(scouted, {}))
        labels = {"c:code": "code"}
        assert "set aside: code (1)" in to_table(report(scouted, labels))
        assert "set aside: c:code (1)" in to_table(report(scouted, labels, public=True))
