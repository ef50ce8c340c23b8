"""Pairs judged by hand: the same question in other words, and other questions in like words."""

from graphstore.model.knowledge import LinkType
from tests.talk import a_thread, derived

SAME = (
    ("How do I reset the local database?", "how can I reset my local database?"),
    ("How do I reset the dial motor?", "What is the way to reset the dial motor again?"),
    ("Why does the build fail on CI?", "why is the CI build failing?"),
    ("Why does the ferry sync fail?", "Any idea why the ferry sync keeps failing?"),
    ("Should we use Postgres or SQLite?", "Postgres or SQLite, which one should we use?"),
    ("What stops the escape wheel?", "why does the escape wheel stop?"),
    ("Why is the parser slow on large files?", "Why is the parser so slow with big files?"),
    ("Is the cache invalidated after deploy?", "Does a deploy invalidate the cache?"),
    ("怎么修复登录超时\uff1f", "登录超时怎么解决\uff1f"),
    ("How do we handle expired tokens?", "What should happen when a token expires?"),
    ("Why do webhooks arrive twice?", "why are we getting duplicate webhooks?"),
)
OTHER = (
    ("How do I reset the office printer?", "How do I reset the router password?"),
    ("How do I rotate the API key?", "How do I delete the API key?"),
    ("How do I test the login page?", "How do I style the login page?"),
    ("Why is the python script so loud?", "Why is the python snake so loud?"),
    ("Add a retry to `fetch_one`.", "Add a retry to `fetch_all`."),
    ("Can we lower the bank of the river?", "Can we lower the fees of the bank?"),
)


def test_recurring_questions_are_told_from_like_ones():
    threads = []
    for n, (left, right) in enumerate(SAME + OTHER):
        threads.append(a_thread(f"a{n}", left, "> Let me look.", project="/w/x"))
        threads.append(a_thread(f"b{n}", right, "> Let me look.", project="/w/x", day=3))
    ground, _ = derived(threads)
    text = {one.question_id: one.text for one in ground.questions}
    linked = {
        frozenset((text[row.src], text[row.dst]))
        for row in ground.links
        if row.link_type is LinkType.RECURRING
    }
    same = {frozenset(pair) for pair in SAME}
    hits = len(linked & same)
    precision, recall = hits / len(linked), hits / len(same)
    assert 2 * precision * recall / (precision + recall) >= 0.85
    assert not linked & {frozenset(pair) for pair in OTHER}
