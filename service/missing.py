"""What a recall missed: the owner names a question and the turn that it needed."""

from datetime import datetime

from dream.index import RECALL_MISS
from graphstore.errors import NotFound
from graphstore.ids import question_id
from graphstore.model.conversation import Role
from graphstore.model.knowledge import Question
from graphstore.model.record import ReviewRecord
from graphstore.model.refs import RefUnresolved
from graphstore.store import Store
from service.reviewing import Reviewed


def missed(store: Store, question: str, ref: str, reason: str, now: datetime) -> Reviewed:
    """Keep the act; the next dream cycle hears it. Raises NotFound without a clean turn."""
    wanted = question if question.startswith("q:") else question_id(question)
    if wanted not in {each.question_id for each in store.nodes(Question)}:
        raise NotFound("question", question)
    found = store.resolve(ref)
    if isinstance(found, RefUnresolved) or found.turn.role is Role.OTHER:
        raise NotFound("turn", ref)
    act = ReviewRecord(act=RECALL_MISS, target=wanted, other=found.ref, reason=reason, at=now)
    store.commit(act, now)
    return Reviewed(act=RECALL_MISS, hypotheses=())
