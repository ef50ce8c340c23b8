"""Several runs told as one."""

from graphstore.model.record import Count
from ingest.model import CarrierRow, CodeCount, IngestReport, MaskedCount, ThreadRow
from ingest.reports import joined


def row(file="a", **figures):
    return CarrierRow(file=file, format="generic", **figures)


def a_run(*rows, codes=(), threads=(), **figures):
    return IngestReport(carriers=rows, codes=codes, threads=threads, **figures)


def code(name, count, *places):
    return CodeCount(code=name, count=count, places=places)


def test_a_file_is_told_as_it_was_read_last_with_all_that_was_new_of_it():
    first = row(new=1, human=1, records=2, dispositions=(Count(name="turn", count=2),))
    later = row(grown=1, human=2, records=5, dispositions=(Count(name="turn", count=5),))
    done = joined([a_run(first, human=1), a_run(later, human=2)], strict=False)
    [told] = done.carriers
    assert (told.new, told.grown, told.human, told.records) == (1, 0, 3, 5)
    assert (done.human, done.records, done.dispositions) == (3, 5, (Count(name="turn", count=5),))
    assert done.interrupted


def test_a_file_that_was_left_closed_later_keeps_what_was_told_of_it():
    read = row(new=1, records=2, codes=(code("bad_json", 1, "a:1"),))
    skipped = row(skipped=True, same=1)
    done = joined([a_run(read, codes=read.codes), a_run(skipped)], strict=False)
    assert done.carriers[0].records == 2
    assert done.codes == (code("bad_json", 1, "a:1"),)


def test_a_thread_is_new_if_it_ever_was_and_its_turns_add_up():
    new = ThreadRow(thread_id="t", status="new", new_turns=2)
    grown = ThreadRow(thread_id="t", status="grown", new_turns=1)
    other = ThreadRow(thread_id="u", status="grown", new_turns=1)
    done = joined(
        [a_run(threads=(new,), new=1), a_run(threads=(grown, other), grown=2)], strict=False
    )
    assert done.threads == (new.replace(new_turns=3), other)
    assert (done.new, done.grown, done.same) == (1, 1, 0)


def test_codes_outside_files_are_those_of_the_last_run():
    loose = code("unknown_format", 1, "x")
    inside = row(codes=(code("bad_json", 2, "a:1"),))
    runs = [a_run(codes=(loose,)), a_run(inside, codes=(*inside.codes, loose))]
    assert joined(runs, strict=False).codes == (code("bad_json", 2, "a:1"), loose)
    assert joined(runs, strict=False).exit_code == 1


def test_secrets_add_up_and_distinct_ones_are_told_as_the_most_of_one_run():
    runs = [
        a_run(masked=(MaskedCount(kind="jwt", count=2, distinct=2),)),
        a_run(masked=(MaskedCount(kind="jwt", count=1, distinct=1),)),
    ]
    assert joined(runs, strict=False).masked == (MaskedCount(kind="jwt", count=3, distinct=2),)


def test_where_no_run_found_a_thread_the_reasons_stay():
    nothing = a_run(reasons=("no_files",), exit_code=3)
    done = joined([nothing, nothing], strict=False)
    assert (done.exit_code, done.reasons) == (3, ("no_files",))
