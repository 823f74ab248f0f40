"""The `raise` statements of the package, those that an error came from, and those that no row can reach."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import ltn

PACKAGE = Path(ltn.__file__).parent

# What no row reaches: the file, a piece of the statement, and the test that reaches it.
ELSEWHERE = [
    ("callbacks.py", "of other weights or of", "test_backup.py::test_those_of_another_training_are_refused"),
    ("callbacks.py", "Remove this backup", "test_backup.py::test_a_corrupt_one_is_refused"),
    *(
        ("core/scorers.py", piece, f"core/test_scorers.py::{test}")
        for test, pieces in [
            (
                "test_refuses_what_it_cannot_score",
                ["of the same size", "scores vectors; got", "a relation and"],
            ),
            ("test_complex_numbers_have_two_parts", ["complex numbers"]),
            (
                "test_refuses_what_it_cannot_tell_apart",
                ["a gigabyte", "A table is over a domain", "with their individuals", "have the same"],
            ),
            ("test_refuses_other_numbers_of_arguments", ["A table of {len"]),
        ]
        for piece in pieces
    ),
    (
        "evaluation/binding.py",
        "would be evaluated",
        "evaluation/test_samples.py::test_a_large_space_takes_the_memory_of_the_sample",
    ),
    (
        "evaluation/batches.py",
        "memory_limit",
        "theory/test_memory_limit.py::test_an_answer_that_is_larger_is_refused",
    ),
    (
        "knowledge/pairs.py",
        "must have the same",
        "theory/test_batches.py::test_are_the_same_for_those_that_are_paired",
    ),
    (
        "evaluation/samples.py",
        "2^62",
        "evaluation/test_samples.py::test_a_large_space_takes_the_memory_of_the_sample",
    ),
    *(
        (f"{file}.py", piece, f"theory/test_row_files.py::{test}")
        for test, file, pieces in [
            ("test_a_damaged_file", "_private", ["is damaged"]),
            ("test_an_error_names_the_file_and_the_row", "_private", ["like the first one"]),
            (
                "test_an_error_names_the_file_and_the_row",
                "knowledge/row_files",
                ["expected is one", "no_individual"],
            ),
            ("test_what_is_no_cell", "knowledge/row_files", ["not UTF-8"]),
            ("test_records_have_what_the_variables_need", "knowledge/row_files", ["a record has one"]),
        ]
        for piece in pieces
    ),
    ("evaluation/guards/strategy.py", "", "theory/test_guards.py::test_too_many_combinations_are_refused"),
    (
        "evaluation/slices.py",
        "no second derivatives",
        "theory/test_chunks_of_networks.py::test_second_derivatives_are_refused",
    ),
    (
        "evaluation/slices.py",
        "whose output depends",
        "theory/test_chunks_of_networks.py::test_that_depend_on_chance_or_on_other_rows_are_refused_in_training_only",
    ),
    (
        "evaluation/slices.py",
        "a loss of its own",
        "theory/test_chunks_of_networks.py::test_with_a_loss_of_their_own_are_refused",
    ),
    (
        "evaluation/samples.py",
        "a sample is drawn",
        "evaluation/test_samples.py::test_of_a_join_that_memory_does_not_hold",
    ),
    *(
        (
            "evaluation/crisp_definitions.py",
            piece,
            "theory/test_definitions_in_guards.py::test_others_are_refused",
        )
        for piece in ("come with data", "compares what is learned")
    ),
    (
        "evaluation/guards/complement.py",
        "selects {count",
        "theory/test_relations.py::test_what_is_not_in_a_relation_is_counted_before_it_is_made",
    ),
    *(
        (
            "evaluation/joins.py",
            piece,
            "evaluation/test_joins.py::test_the_number_is_known_before_rows_are_made",
        )
        for piece in ('"{count:,} tuples, more', '"more than {MOST_ROWS:,} tuples"', "goes through more")
    ),
    (
        "evaluation/relations.py",
        "were not loaded",
        "theory/test_relations_in_files.py::test_rows_that_are_not_there_are_missed",
    ),
    (
        "theory/loading.py",
        "are not in it",
        "theory/test_relations_in_files.py::test_rows_that_are_not_there_are_missed",
    ),
    ("theory/saving.py", "must be places", "theory/test_relations_in_files.py::test_bent_rows_are_refused"),
    (
        "theory/restoring.py",
        "have no network",
        "theory/test_hostile_files.py::test_what_does_not_fit_together_is_refused",
    ),
    ("files.py", "and unpacks to", "theory/test_hostile_files.py::test_a_small_file_takes_little_memory"),
    ("files.py", "is read-only", "theory/test_interrupted_saves.py::test_a_file_that_may_not_be_written"),
    ("files.py", "are not numbers", "test_backup.py::test_a_corrupt_one_is_refused"),
    ("files.py", "raise unreadable", "test_backup.py::test_a_corrupt_one_is_refused"),
    *(
        ("knowledge/places.py", piece, f"theory/test_individuals.py::{test}")
        for piece, test in [
            ("In batch", "test_in_training"),
            ("In a batch", "test_in_training"),
            ("compiled code cannot look up", "test_names_and_other_cells"),
        ]
    ),
    ("knowledge/streams.py", "In batch", "theory/test_data_sets.py::test_are_checked"),
    (
        "knowledge/networks.py",
        "cannot rebuild the network",
        "reasoning/test_starts.py::test_what_keras_cannot_rebuild_is_refused_by_name",
    ),
    (
        "language/writing_out.py",
        "written out",
        "theory/test_definitions.py::test_what_grows_all_the_same_is_refused",
    ),
    (
        "knowledge/rule_files.py",
        "entries[circle",
        "theory/test_definitions.py::test_wrong_ones_are_shown_at_their_place",
    ),
    (
        "knowledge/rule_files.py",
        "has no other name",
        "theory/test_definitions.py::test_wrong_ones_are_shown_at_their_place",
    ),
    # Several mistakes in a text become one error, which comes from none of them.
    *(
        (
            "knowledge/rule_files.py",
            piece,
            "theory/test_axiom_handles.py::test_all_mistakes_are_shown_with_file_and_line",
        )
        for piece in (
            "found.message",
            "Two axioms",
            "type(error)",
            "LogicValueError(locate(message, text, entry.place",
        )
    ),
    ("theory/loading.py", "not a theory", "theory/test_saving_files.py::test_of_other_models"),
    (
        "theory/loading.py",
        "which is not known",
        "theory/test_hostile_files.py::test_a_class_that_is_not_registered",
    ),
    (
        "theory/loading.py",
        "asks for take up",
        "theory/test_hostile_files.py::test_a_small_file_takes_little_memory",
    ),
    (
        "theory/loading.py",
        "the file must hold",
        "theory/test_hostile_files.py::test_members_that_are_missing_or_of_another_kind",
    ),
    (
        "theory/loading.py",
        "outside of it",
        "theory/test_hostile_files.py::test_members_that_are_missing_or_of_another_kind",
    ),
    ("theory/loading.py", "another file", "theory/test_hostile_files.py::test_bent_weights_are_refused"),
    ("theory/loading.py", "links to others", "theory/test_hostile_files.py::test_bent_weights_are_refused"),
    (
        "theory/loading.py",
        "its weights unpack",
        "theory/test_hostile_files.py::test_bent_weights_are_refused",
    ),
    ("theory/loading.py", "the truth of", "theory/test_hostile_files.py::test_bent_weights_are_refused"),
    ("theory/loading.py", "must be finite", "theory/test_hostile_files.py::test_bent_weights_are_refused"),
    (
        "training/finite.py",
        "self._explain(kept",
        "training/test_finite.py::test_stops_the_training_however_it_is_compiled",
    ),
    (
        "training/finite.py",
        "self._explain(data)",
        "training/test_finite.py::test_stops_the_training_however_it_is_compiled",
    ),
    ("training/feeding.py", "take no `starts`", "training/test_trials.py::test_several_replicas"),
    (
        "training/compilation.py",
        "one step at a time",
        "theory/test_replicas.py::test_what_replicas_cannot_do",
    ),
    ("training/compilation.py", "XLA does not", "theory/test_replicas.py::test_what_replicas_cannot_do"),
    ("training/feeding.py", "take data as", "theory/test_replicas.py::test_a_generator_of_batches"),
    ("training/feeding.py", "take `validation_data`", "theory/test_replicas.py::test_a_split_of_the_data"),
    (
        "repair/decoding.py",
        "pip install",
        "repair/test_decoding.py::test_without_scipy_it_is_told_what_to_install",
    ),
    (
        "theory/ranking.py",
        "so they have no order",
        "theory/test_ranking.py::test_values_without_an_order_are_refused",
    ),
    (
        "theory/violating.py",
        "so it is not known whether they are violated",
        "theory/test_violations.py::test_truths_that_are_not_numbers",
    ),
]
# What no call reaches: a rule that was forgotten, or what another check has seen before.
UNREACHABLE = [
    ("evaluation/", "RuntimeError("),
    ("repair/", "RuntimeError("),
    ("evaluation/groundings.py", "explain_missing(variable)"),
    ("evaluation/tuples.py", "explain_missing(variable)"),
    ("plot/trees.py", "Expected a part of a formula"),
]


class Statement(NamedTuple):
    """A `raise` of the package: its file, its lines, and what it says."""

    file: str
    first: int
    last: int
    text: str


@functools.cache
def statements() -> list[Statement]:
    """All that raise a new error; a bare `raise` passes on one that came from elsewhere."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Raise) and node.exc is not None:
                text = " ".join((ast.get_source_segment(source, node) or "").split())
                file = path.relative_to(PACKAGE).as_posix()
                found.append(Statement(file, node.lineno, node.end_lineno or node.lineno, text))
    return found


def lines_of(error: BaseException) -> set[tuple[str, int]]:
    """The lines of the package that an error, or one that led to it, passed through: file and number."""
    lines = set()
    for each in _chain(error):
        traceback = each.__traceback__
        while traceback is not None:
            path = Path(traceback.tb_frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE):
                lines.add((path.relative_to(PACKAGE).as_posix(), traceback.tb_lineno))
            traceback = traceback.tb_next
    return lines


def _chain(error: BaseException) -> Iterator[BaseException]:
    pending: list[BaseException | None] = [error]
    known: list[BaseException] = []
    while pending:
        each = pending.pop()
        if each is not None and each not in known:
            known.append(each)
            yield each
            pending += [each.__cause__, each.__context__]


def is_excused(statement: Statement) -> bool:
    """Whether no row has to reach it."""
    if any(statement.file.startswith(file) and piece in statement.text for file, piece in UNREACHABLE):
        return True
    return any(statement.file == file and piece in statement.text for file, piece, _ in ELSEWHERE)
