"""Programs in answers, graded end to end: the known false passes and false fails of public graders, each with its twin."""

from __future__ import annotations

import resource
from typing import Any, ClassVar

import pytest

from speedqual.grading.base import grader_for
from speedqual.grading.sandbox import best_backend, possible_backends
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

FENCE = "```"
IDENTITY = {"entry_point": "f", "cases": [{"args": [3], "expect": 3}, {"args": [-1], "expect": -1}]}
SUCCESSOR = {"entry_point": "f", "cases": [{"args": [1], "expect": 2}, {"args": [41], "expect": 42}]}

pytestmark = pytest.mark.skipif(best_backend() is None, reason="no sandbox on this machine")


def grade(
    text: str, tests: Any = None, *, stop: Any = "stop", row: dict[str, Any] | None = None, **options: Any
) -> Grade:
    evalset = EvalSet(name="cases", task="code", items=(), grader=GraderSpec(name="code", options=options))
    item = Item(id="one", row={"tests": SUCCESSOR if tests is None else tests, **(row or {})})
    return grader_for(evalset)(Answer(text=text, stop=stop), item)


def passes(text: str, tests: Any = IDENTITY, **more: Any) -> Grade:
    found = grade(text, tests, **more)
    assert (found.score, found.verdict, found.failure) == (1.0, "pass", "none"), found
    assert found.how and found.extracted
    return found


def fails(text: str, failure: str, tests: Any = IDENTITY, **more: Any) -> Grade:
    found = grade(text, tests, **more)
    assert (found.score, found.verdict, found.failure) == (0.0, "fail", failure), found
    assert found.why
    return found


def fenced(body: str, tag: str = "python", mark: str = FENCE) -> str:
    return f"{mark}{tag}\n{body}\n{mark}"


RIGHT = "def f(x):\n    return x"


class TestSeveralFences:
    def test_the_last_fence_that_defines_the_entry_point_wins(self) -> None:
        draft = "def f(x):\n  a=1\n  b=2\n  c=3\n  return a+b+c"
        text = f"First try:\n{fenced(draft)}\nThat is wrong. Fixed:\n{fenced(RIGHT)}\nUse it like:\n{fenced('print(f(3))')}"
        found = passes(text)
        assert "last fence that defines f" in found.how
        assert "ambiguous" not in found.flags

    def test_a_helper_in_another_fence_is_joined(self) -> None:
        passes(
            f"{fenced('def g(x):' + chr(10) + '    return x')}\nand\n{fenced('def f(x):' + chr(10) + '    return g(x)')}"
        )

    @pytest.mark.parametrize(
        "usage",
        [
            "x = 3\nresult = f(x)\nprint(result)",
            "x, y = 3, 4\nprint(f(x))\nassert f(x) == y, (",
            "x: int = 3\nprint(f(",
        ],
        ids=["whole", "broken", "cut"],
    )
    @pytest.mark.parametrize("stop", ["stop", "length"])
    def test_a_fence_that_only_shows_the_use_is_left_out(self, usage: str, stop: str) -> None:
        whole = passes(f"{fenced(RIGHT)}\n用法如下：\n{FENCE}python\n{usage}", stop=stop)
        assert "joined" not in whole.how

    def test_what_a_function_binds_itself_is_not_taken_from_the_use(self) -> None:
        task = {"entry_point": "no_zero", "cases": [{"args": [[1, 0, 2]], "expect": [1, 2]}]}
        body = "def no_zero(numbers):\n    return [x for x in numbers if x != 0]"
        use = "numbers = [1, 0, 2]\nx = no_zero(numbers)\nprint(x"
        passes(f"{fenced(body)}\nExample:\n{fenced(use)}", task)

    def test_imports_and_constants_in_another_fence_are_joined(self) -> None:
        passes(
            f"{fenced('import math')}\n{fenced('ZERO = 0')}\n{fenced('def f(x):' + chr(10) + '    return math.floor(x) + ZERO')}"
        )

    def test_two_definitions_without_a_hint_are_flagged(self) -> None:
        found = passes(f"{fenced('def f(x):' + chr(10) + '    return 5')}\nand\n{fenced(RIGHT)}")
        assert "ambiguous" in found.flags
        found = passes(f"My final answer:\n{fenced('def f(x): return 5')}\nFor comparison:\n{fenced(RIGHT)}")
        assert "ambiguous" in found.flags


class TestTags:
    @pytest.mark.parametrize(
        "tag",
        ["python", "py", "Python3", "python3.11", 'python title="a.py"', "{.python}", " python", "", "PYTHON", "pycon"],
    )
    def test_python_by_any_name(self, tag: str) -> None:
        passes(fenced(RIGHT, tag))

    def test_tildes_and_longer_fences(self) -> None:
        passes(fenced(RIGHT, mark="~~~"))
        passes(fenced(f'def f(x):\n    """\n{FENCE}\nf(1)\n{FENCE}\n    """\n    return x', mark=FENCE + "`"))

    @pytest.mark.parametrize("tag", ["bash", "json", "output", "text"])
    def test_another_language_is_not_code(self, tag: str) -> None:
        fails(fenced(RIGHT, tag), "wrong_format")
        passes(f"{fenced('def f(x): return 9', tag)}\n{fenced(RIGHT)}")

    def test_a_block_inside_a_markdown_block(self) -> None:
        passes(f"{FENCE}`markdown\n# Answer\n{fenced(RIGHT)}\n{FENCE}`")


class TestBrokenFences:
    def test_unclosed_and_stopped_by_itself_passes(self) -> None:
        passes(f"{FENCE}python\n{RIGHT}")

    def test_unclosed_and_cut_by_the_token_limit_is_truncated(self) -> None:
        fails(f"{FENCE}python\n{RIGHT}", "truncated", stop="length")
        fails("def f(x):\n    return (x", "truncated", stop="length")

    def test_only_a_closing_fence(self) -> None:
        passes(f"{RIGHT}\n{FENCE}")

    def test_a_stray_closing_fence_at_the_end(self) -> None:
        passes(f"Here:\n{fenced(RIGHT)}\nUses O(1).\n{FENCE}")

    def test_prose_that_quotes_code_is_no_answer(self) -> None:
        fails("Use `return x`", "no_answer")

    def test_prose_alone_is_no_code(self) -> None:
        fails("It simply gives back what it is given.", "no_code")

    def test_a_fence_inside_a_string_of_the_program(self) -> None:
        body = f'def f(x):\n    s = """\n{FENCE}\n"""\n    return x'
        passes(fenced(body))
        passes(body)
        passes(f"{fenced(body)}\nIt ends with {FENCE} as asked.")

    def test_a_fence_on_one_line(self) -> None:
        passes(f"{FENCE}python def f(x): return x{FENCE}")

    def test_line_ends_and_marks_of_other_systems(self) -> None:
        passes(fenced(RIGHT).replace("\n", "\r\n"))
        passes("\ufeff" + RIGHT)


class TestUnfenced:
    def test_prose_around(self) -> None:
        found = passes("Sure! Here is the function:\n\ndef f(x):\n    return x\n\nThis runs in O(1).")
        assert found.extracted == RIGHT

    def test_prose_that_compiles_is_still_prose(self) -> None:
        passes("yes\nno\nok\nmaybe\ndef f(x): return x")

    def test_a_lambda_and_a_class_method(self) -> None:
        passes("f = lambda x: x")
        method = {"entry_point": "Solution.f", "cases": [{"args": [3], "expect": 3}]}
        passes("class Solution:\n    def f(self, x):\n        return x", method)


class TestIndentation:
    def test_an_answer_set_in_as_a_whole(self) -> None:
        passes("    def f(x):\n        return x")
        passes(f"1. Write:\n   {FENCE}python\n   def f(x):\n       return x\n   {FENCE}\n")
        passes(f"- {FENCE}python\n  def f(x):\n      return x\n  {FENCE}\n")
        passes(f"> {FENCE}python\n> def f(x):\n>     return x\n> {FENCE}\n")

    def test_a_bare_body_goes_under_the_prompts_signature(self) -> None:
        passes("    return x", row={"prompt": "Complete this:\n\ndef f(x):\n"})
        passes("    y = x\n    return y", row={"prompt": 'import math\n\ndef f(x):\n    """Give x back."""\n'})

    def test_mixed_tabs_are_not_repaired(self) -> None:
        found = fails("def f(x):\n\tif x:\n        return x\n\treturn x", "does_not_compile")
        assert found.parts["compiles"] is False and "TabError" in found.why and found.score_lenient == 0.0

    def test_a_lost_first_indent_is_repaired_only_leniently(self) -> None:
        found = fails(fenced("import math\n    def f(x):\n        return x"), "does_not_compile")
        assert found.score_lenient == 1.0 and "repaired:indent" in found.flags and found.repairs == 1


class TestAsync:
    TESTS: ClassVar[dict[str, Any]] = {"entry_point": "fetch", "cases": [{"args": [1], "expect": 2}]}

    def test_a_coroutine_function_is_awaited(self) -> None:
        body = "async def fetch(n):\n    return n + 1\n"
        passes(fenced(body), self.TESTS)
        passes(fenced(f"import asyncio\n{body}print(asyncio.run(fetch(1)))"), self.TESTS)
        passes(fenced("import asyncio\nasync def fetch(n):\n    await asyncio.sleep(0)\n    return n + 1"), self.TESTS)

    def test_top_level_await_needs_notebook_mode(self) -> None:
        body = "async def fetch(n):\n    return n + 1\nawait fetch(1)"
        fails(fenced(body), "does_not_compile", self.TESTS)
        passes(fenced(body), self.TESTS, mode="notebook")

    def test_a_coroutine_never_awaited_is_no_value(self) -> None:
        inner = "async def g(n):\n    return n + 1\n"
        fails(fenced(f"{inner}def fetch(n):\n    return g(n)"), "wrong_result", self.TESTS)
        fails(fenced(f"{inner}async def fetch(n):\n    return g(n)"), "wrong_result", self.TESTS)


class TestVersions:
    def test_print_as_a_statement_does_not_compile(self) -> None:
        fails(fenced('print "x"\ndef f(x): return x'), "does_not_compile")

    def test_a_warning_is_no_error(self) -> None:
        found = passes("import re\ndef f(x):\n    re.compile('\\d')\n    return x")
        assert found.parts["warnings"]

    def test_a_version_that_is_not_here_is_not_checked(self) -> None:
        found = grade(RIGHT, IDENTITY, python="==3.99.*")
        assert (found.score, found.verdict, found.failure) == (None, "not_graded", "not_checked")
        assert "3.99" in found.why

    def test_the_interpreter_is_recorded(self) -> None:
        assert passes(RIGHT).parts["python"].startswith("3.")

    def test_magics_count_only_in_a_notebook(self) -> None:
        body = f"!pip install x\n%matplotlib inline\n{RIGHT}"
        found = fails(fenced(body), "does_not_compile")
        assert found.score_lenient == 1.0
        passes(fenced(body), mode="notebook")

    def test_prompts_of_a_session_are_stripped_leniently(self) -> None:
        found = fails(fenced(">>> def f(x):\n...     return x\n>>> f(3)\n3"), "does_not_compile")
        assert found.score_lenient == 1.0 and "repaired:prompts" in found.flags


class TestEarlyExits:
    @pytest.mark.parametrize(
        "end",
        [
            "import sys; sys.exit(0)",
            "raise SystemExit",
            "import os; os._exit(0)",
            "import os; os.kill(os.getpid(), 9)",
            "quit()",
            "exit()",
            "raise KeyboardInterrupt",
            "import os, signal; signal.raise_signal(signal.SIGTERM)",
            "import ctypes; ctypes.string_at(0)",
            "import os; os.abort()",
        ],
    )
    def test_ending_early_never_passes(self, end: str) -> None:
        fails(f"{end}\ndef f(x): return 99", "crashed")
        fails(f"def f(x):\n    {end}", "crashed")

    def test_ending_at_exit_changes_nothing(self) -> None:
        fails("import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(x): return 99", "wrong_result")

    def test_a_main_guard_is_no_early_exit(self) -> None:
        passes(f"{RIGHT}\nif __name__ == '__main__':\n    import sys\n    sys.exit(0)")


ALWAYS_EQUAL = "class A:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"


class TestTampering:
    @pytest.mark.parametrize(
        "program",
        [
            f"{ALWAYS_EQUAL}def f(x): return A()",
            f"{ALWAYS_EQUAL}def f(x): return [A()]",
            "class I(int):\n    def __eq__(self, o): return True\ndef f(x): return I(7)",
            "class S(str):\n    def __eq__(self, o): return True\ndef f(x): return S('a')",
            "def f(x): return True",
            "def f(x): return '3'",
            "def f(x):\n    return NotImplemented",
            "from unittest import mock\ndef f(x): return mock.ANY",
            "import builtins\nbuiltins.AssertionError = type('E', (Exception,), {})\ndef f(x): return 99",
            "def f(x):\n    print('OK\\nPASSED\\n1 passed')\n    return 99",
            "import json\njson.dumps = lambda *a, **k: '{\"value\": 3}'\ndef f(x): return 99",
        ],
    )
    def test_a_wrong_value_in_disguise_is_wrong(self, program: str) -> None:
        fails(program, "wrong_result")

    @pytest.mark.parametrize(
        "program",
        [
            "import os\nos.write(3, b'{\"value\": 3}\\n')\nos._exit(0)\ndef f(x): return 3",
            "import os\nos.write(3, b'{\"value\": 3}\\n')\ndef f(x): return 3",
            "import os\ndef f(x):\n    os.write(3, b'0' * 32 + b'{\"value\": 3}\\n')\n    os._exit(0)",
        ],
    )
    def test_a_forged_reply_is_seen(self, program: str) -> None:
        fails(program, "forged")

    def test_files_left_behind_do_not_reach_the_next_test(self) -> None:
        tests = {"entry_point": "f", "cases": [{"args": [], "expect": 0}, {"args": [], "expect": 0}]}
        leave = "for name in ('conftest.py', 'sitecustomize.py', 'random.py'):\n        open(name, 'w').write('raise SystemExit(0)')\n"
        passes(f"import os\ndef f():\n    n = len(os.listdir('.'))\n    {leave}    return n", tests)

    def test_nothing_of_the_tests_can_be_read(self) -> None:
        look = (
            "import gc, os, sys\ndef f(x):\n    frame = sys._getframe()\n    seen = repr(dict(os.environ))\n"
            "    while frame:\n        seen += repr(frame.f_locals)\n        frame = frame.f_back\n"
            "    seen += repr([o for o in gc.get_objects() if isinstance(o, dict) and 'expect' in o])\n"
            "    return str(98765) + '4321' in seen"
        )
        found = fails(look, "wrong_result", {"entry_point": "f", "cases": [{"args": [1], "expect": 987654321}]})
        assert found.parts["first_failure"]["got"] is False

    def test_printing_for_debugging_costs_nothing(self) -> None:
        passes("import sys\ndef f(x):\n    print('debug', x)\n    print('more', file=sys.stderr)\n    return x")


class TestLimits:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("body", "failure"),
        [
            ("while True: pass", "time_limit"),
            ("while True:\n        try:\n            while True: pass\n        except BaseException: pass", "time_limit"),
            ("import time; time.sleep(1e9)", "time_limit"),
            ("import re; return re.match(r'(a+)+$', 'a' * 40 + 'b')", "time_limit"),
            ("import signal\n    for s in range(1, 65):\n        try: signal.signal(s, signal.SIG_IGN)\n"
             "        except (OSError, ValueError): pass\n    while True: pass", "time_limit"),
            ("while True: print('x' * 4096)", "output_limit"),
            ("return bytearray(10 ** 10)", "memory_limit"),
            ("a = []\n    while True: a.append(' ' * 10 ** 6)", "memory_limit"),
            ("import os\n    while True: os.fork()", "process_limit"),
            ("import threading, time\n    while True: threading.Thread(target=time.sleep, args=(99,)).start()", "process_limit"),
            ("a = 0\n    for i in range(9999): a = [a]\n    return a", "output_limit"),
        ],
    )  # fmt: skip
    def test_each_limit_has_its_name(self, body: str, failure: str) -> None:
        once = {"entry_point": "f", "cases": [{"args": [1], "expect": 1}]}
        fails(f"def f(x):\n    {body}", failure, once, cpu_s=1 if failure == "time_limit" else 5)

    @pytest.mark.slow
    def test_a_flood_stays_outside_this_process(self) -> None:
        fails("def f(x):\n    while True: print('x' * 10 ** 6)", "output_limit", cpu_s=1)
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        fails("def f(x):\n    while True: print('x' * 10 ** 6)", "output_limit", cpu_s=1)
        fails("def f(x):\n    return ['x'] * 10 ** 7", "output_limit", cpu_s=3)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 20_000

    @pytest.mark.slow
    def test_one_endless_case_does_not_touch_the_others(self) -> None:
        cases = [{"args": [n], "expect": n} for n in range(5)]
        found = fails(
            "def f(x):\n    while x == 2: pass\n    return x",
            "time_limit",
            {"entry_point": "f", "cases": cases},
            cpu_s=1,
        )
        assert found.parts["passed"] == 4 and found.parts["first_failure"]["test"] == 2

    def test_what_is_kept_of_the_output_is_bounded(self) -> None:
        passes("def f(x):\n    print('x' * 200_000)\n    return x")


class TestPartialLogic:
    def test_seven_of_ten(self) -> None:
        cases = [{"args": [n], "expect": n} for n in range(10)]
        program = "def f(x):\n    if x == 3: raise ValueError('no three')\n    return x + (x > 7)"
        found = fails(program, "crashed", {"entry_point": "f", "cases": cases})
        assert found.parts["tests"] == 10 and found.parts["passed"] == 7 and found.parts["test_fraction"] == 0.7
        assert found.parts["first_failure"]["input"] == "f(3)" and found.parts["first_failure"]["expected"] == "3"
        assert "no three" in found.parts["first_failure"]["why"]

    def test_a_wrong_name_is_right_only_leniently(self) -> None:
        found = fails("def F(x):\n    return x", "wrong_format")
        assert found.score_lenient == 1.0 and "repaired:name" in found.flags

    def test_a_method_and_odd_spaces_are_right_only_leniently(self) -> None:
        found = fails("class Solution:\n    def f(self, x):\n        return x", "wrong_format")
        assert found.score_lenient == 1.0 and "repaired:method" in found.flags
        found = fails(fenced("def f(x):\n\u00a0\u00a0return x"), "does_not_compile")
        assert found.score_lenient == 1.0 and "repaired:spaces" in found.flags

    def test_int_and_float(self) -> None:
        passes("def f(x): return float(x)")
        fails("def f(x): return float(x)", "wrong_result", float_ok=False)
        fails("def f(x): return str(x)", "wrong_result")

    @pytest.mark.parametrize(
        ("value", "expect", "right"),
        [
            ("0.333333", 0.333333333333, True),
            ("[0.1 + 0.2, 1.0]", [0.3, 1], True),
            ("3.1", 3, False),
            ("3.0000001", 3, False),
            ("True", 1, False),
            ("1", True, False),
            ("(1, 2)", [1, 2], False),
            ("(1, 2)", {"$tuple": [1, 2]}, True),
            ("{1, 2}", {"$set": [2, 1]}, True),
            ("b'\\x00'", {"$bytes": "00"}, True),
            ("float('inf')", {"$float": "inf"}, True),
            ("float('nan')", {"$float": "nan"}, True),
            ("{1: 'a'}", {"1": "a"}, False),
            ("{1: 'a'}", {"$dict": [[1, "a"]]}, True),
            ("2 ** 53 + 1", 2**53, False),
            ("10 ** 400", 1.0, False),
            ("12345678901234567891", 12345678901234567891, True),
            ("12345678901234567890", 12345678901234567891, False),
            ("{'b': 2, 'a': [1]}", {"a": [1], "b": 2}, True),
            ("__import__('collections').Counter('aab')", {"a": 2, "b": 1}, True),
            ("None", None, True),
            ("''", None, False),
            ("[]", None, False),
        ],
    )
    def test_values_are_compared_with_their_types(self, value: str, expect: Any, right: bool) -> None:
        tests = {"entry_point": "f", "cases": [{"args": [], "expect": expect}]}
        found = grade(f"def f():\n    return {value}", tests)
        assert found.failure == ("none" if right else "wrong_result"), found.why

    def test_an_exception_may_be_the_right_answer(self) -> None:
        tests = {"entry_point": "f", "cases": [{"args": [-1], "raises": "ValueError"}, {"args": [1], "expect": 1}]}
        passes("def f(x):\n    if x < 0: raise ValueError\n    return x", tests)
        fails("def f(x): return x", "wrong_result", tests)
        fails("def f(x):\n    if x < 0: raise KeyError\n    return x", "crashed", tests)

    def test_work_in_place(self) -> None:
        tests = {"entry_point": "f", "cases": [{"args": [[3, 1]], "expect_args": [[1, 3]]}]}
        passes("def f(a): a.sort()", tests)
        fails("def f(a): return sorted(a)", "wrong_result", tests)


class TestAsserts:
    TESTS: ClassVar[dict[str, Any]] = {
        "entry_point": "f",
        "asserts": "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate([2]) == [2]\n",
    }

    def test_right_and_wrong(self) -> None:
        assert passes(RIGHT, self.TESTS).parts["style"] == "asserts"
        found = fails("def f(x): return 1", "wrong_result", self.TESTS)
        assert found.parts["passed"] == 1 and found.parts["tests"] == 2 and "candidate([2])" in found.why

    @pytest.mark.parametrize(
        "program",
        [
            f"{ALWAYS_EQUAL}def f(x): return A()",
            "import sys\ndef f(x):\n    sys._getframe().f_back.f_locals.clear()\n    return 99",
            "import builtins\nbuiltins.AssertionError = SystemExit\ndef f(x): return 99",
            "import os\nos._exit(0)\ndef f(x): return x",
            "import os\ndef f(x): os._exit(0)",
            "def f(x): raise SystemExit(0)",
            "def f(x): raise AssertionError",
            "print('PASSED')\ndef f(x): return 99",
            "import os\nfor n in range(3, 64):\n    try: os.write(n, b'\\x00\\x00\\x00\\x02{}')\n    except OSError: pass\ndef f(x): return 99",
            "import ast\nast.parse = None\ndef f(x): return 99",
        ],
    )
    def test_no_trick_passes(self, program: str) -> None:
        found = grade(program, self.TESTS)
        assert found.score == 0.0 and found.verdict == "fail", found

    def test_objects_of_the_program_can_be_tested(self) -> None:
        stack = (
            "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x): self.items.append(x)\n"
            "    def pop(self): return self.items.pop()\n    def __len__(self): return len(self.items)\n"
        )
        asserts = (
            "s = Stack()\ns.push(3)\nassert len(s) == 1\nassert s.pop() == 3\n"
            "try:\n    s.pop()\n    assert False\nexcept IndexError:\n    pass\nassert not s\n"
        )
        passes(stack, {"entry_point": "Stack", "asserts": asserts})

    def test_operators_of_the_programs_own_types(self) -> None:
        vector = (
            "class V:\n    def __init__(self, x): self.x = x\n    def __eq__(self, o): return self.x == o.x\n"
            "    def __mul__(self, n): return V(self.x * n)\n    def __add__(self, o): return V(self.x + o.x)\n"
        )
        asserts = "assert V(2) * 3 == V(6)\nassert V(1) + V(2) == V(3)\nassert V(1) != V(2)\nassert V(7).x == 7\n"
        passes(vector, {"entry_point": "V", "asserts": asserts})

    def test_an_object_near_to_every_number_is_no_number(self) -> None:
        near = "class A:\n    def __sub__(s, o): return 0\n    def __abs__(s): return 0\n    def __lt__(s, o): return True\n"
        tests = {"entry_point": "f", "asserts": "assert abs(f(1) - 0.5) < 1e-6\nassert f(1) < 3\n"}
        assert fails(f"{near}def f(x): return A()", "crashed", tests).parts["passed"] == 0

    def test_functions_may_be_passed_in_and_lists_changed_in_place(self) -> None:
        asserts = "a = [1, 2]\nf(a, lambda n: n * 10)\nassert a == [10, 20]\n"
        passes("def f(a, g):\n    a[:] = [g(n) for n in a]", {"entry_point": "f", "asserts": asserts})

    def test_tests_without_an_assert_are_a_fault_of_the_row(self) -> None:
        found = grade(RIGHT, {"entry_point": "f", "asserts": "f(1)"})
        assert (found.score, found.failure) == (None, "grader_error")


class TestSameGrade:
    @pytest.mark.parametrize(
        "body",
        ["return x", "raise ValueError(object())", "return {f'k{n}' for n in range(9)}", "return list({'a', 'b', 'c'})",
         "import random; return random.random()", "while True: pass", "return object()", "print(id(x))"],
    )  # fmt: skip
    def test_equal_answers_get_equal_grades_whatever_process_judges(self, body: str) -> None:
        grades = []
        for backend in ("auto", "auto", *possible_backends()):
            found = grade(f"def f(x):\n    {body}", sandbox=backend, cpu_s=0.5)
            grades.append({**found.to_dict(), "parts": {**found.parts, "sandbox": ""}})
        assert all(each == grades[0] for each in grades)


class TestNoProgram:
    @pytest.mark.parametrize("text", ["", "   \n\t", "\n\n"])
    def test_an_empty_answer_is_no_answer(self, text: str) -> None:
        fails(text, "no_answer")

    @pytest.mark.parametrize("text", ["I'm sorry, but I can't help with that.", "抱歉，我无法回答这个问题。"])
    def test_a_refusal(self, text: str) -> None:
        fails(text, "refused")

    def test_a_program_in_the_thinking_does_not_count(self) -> None:
        fails(f"<think>{fenced(RIGHT)}</think>\nHere you are.", "no_code")
        passes(f"<think>{fenced('def f(x): return 0')}</think>\n{fenced(RIGHT)}")
        fails(f"<think>{fenced(RIGHT)}", "truncated")


class TestChecker:
    def test_nested_signs_make_the_checker_give_up(self) -> None:
        found = grade(f"x = {'-' * 100_000}1\ndef f(x): return x", IDENTITY)
        assert (found.score, found.failure) == (None, "checker_gave_up")

    def test_a_source_above_256_kb_is_not_compiled(self) -> None:
        found = grade(f"def f(x):\n    return x\n# {'x' * 300_000}", IDENTITY)
        assert (found.score, found.failure) == (None, "checker_gave_up")

    def test_odd_characters_do_not_break_the_grader(self) -> None:
        fails("def f(x):\n    return x\0", "does_not_compile")
        assert grade("def f(x):\n    return '\ud800'", IDENTITY).failure in ("does_not_compile", "wrong_result")

    def test_a_row_without_tests_asks_only_to_compile(self) -> None:
        assert passes("def anything():\n    pass", {}).parts["compiles"] is True


def test_a_broken_row_is_a_grader_error_not_a_wrong_answer() -> None:
    for tests in ([1], {"cases": [{"args": [1], "expect": 1}]}, {"entry_point": "f", "cases": [7]}, "{nonsense"):
        found = grade(RIGHT, tests)
        assert (found.score, found.failure) == (None, "grader_error"), found
