"""A second tester's answers to code tasks: right ones in odd dress that must pass, wrong ones in good dress that must not."""

from __future__ import annotations

from typing import Any

import pytest

from speedqual.grading.base import grader_for
from speedqual.grading.sandbox import best_backend
from speedqual.records import Answer, EvalSet, Grade, GraderSpec, Item

pytestmark = pytest.mark.skipif(best_backend() is None, reason="no sandbox on this machine")

IDENTITY = {"entry_point": "f", "cases": [{"args": [3], "expect": 3}, {"args": [-1], "expect": -1}]}
SUCCESSOR = {"entry_point": "f", "cases": [{"args": [1], "expect": 2}, {"args": [41], "expect": 42}]}
SORTED = {"entry_point": "f", "cases": [{"args": [[3, 1, 2]], "expect": [1, 2, 3]}]}
TRUTH = {"entry_point": "f", "cases": [{"args": [1], "expect": True}]}
THIRD = {"entry_point": "f", "cases": [{"args": [1], "expect": 0.333333333333}]}

RIGHT = {
    'numbered list three fences': ('1. Helper:\n\n   ```python\n   def g(x):\n       return x\n   ```\n\n2. Main:\n\n   ```python\n   def f(x):\n       return g(x)\n   ```\n', 'stop'),
    'final then alternative named worse? last': ('```python\ndef f(x):\n    return x\n```\n\nAlternatively, a version with a lambda:\n```python\nf = lambda x: x\n```', 'stop'),
    'tests after': ('```python\ndef f(x):\n    return x\n```\n\nTests:\n```python\nimport unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(3), 3)\nunittest.main()\n```', 'stop'),
    'usage with def main': ('```python\ndef f(x):\n    return x\n```\nUse:\n```python\ndef main():\n    print(f(3))\n\nmain()\n```', 'stop'),
    'crlf': ('```python\r\ndef f(x):\r\n    return x\r\n```', 'stop'),
    'lone cr': ('```python\rdef f(x):\r    return x\r```', 'stop'),
    'mixed ends': ('Hi\r\n```python\rdef f(x):\n    return x\r\n```', 'stop'),
    'bom fence': ('\ufeff```python\ndef f(x):\n    return x\n```', 'stop'),
    'bom code': ('\ufeffdef f(x):\n    return x', 'stop'),
    'bom in fence': ('```python\n\ufeffdef f(x):\n    return x\n```', 'stop'),
    'zero width before fence': ('\u200b```python\ndef f(x):\n    return x\n```', 'stop'),
    'uppercase tag': ('```PYTHON\ndef f(x):\n    return x\n```', 'stop'),
    'tag py3': ('```py3\ndef f(x):\n    return x\n```', 'stop'),
    'tag python attr': ('```python {linenos=true}\ndef f(x):\n    return x\n```', 'stop'),
    'tag with filename': ('```python:main.py\ndef f(x):\n    return x\n```', 'stop'),
    'tag sol.py': ('```solution.py\ndef f(x):\n    return x\n```', 'stop'),
    'fence space': ('``` python\ndef f(x):\n    return x\n```', 'stop'),
    'blockquote': ('> ```python\n> def f(x):\n>     return x\n> ```', 'stop'),
    'html details': ('<details><summary>Code</summary>\n\n```python\ndef f(x):\n    return x\n```\n\n</details>', 'stop'),
    'code tag html': ('<pre><code>\ndef f(x):\n    return x\n</code></pre>', 'stop'),
    'latex end': ('```python\ndef f(x):\n    return x\n```\n\nTime complexity: $O(1)$.', 'stop'),
    'type hints and defaults': ('```python\nfrom typing import Optional\n\ndef f(x: Optional[int] = None) -> Optional[int]:\n    return x\n```', 'stop'),
    'docstring with fence': ('```python\ndef f(x):\n    """Return x.\n\n    ```\n    >>> f(3)\n    3\n    ```\n    """\n    return x\n```', 'stop'),
    'doctest in docstring and main': ('```python\ndef f(x):\n    """\n    >>> f(3)\n    3\n    """\n    return x\n\nif __name__ == "__main__":\n    import doctest\n    doctest.testmod()\n```', 'stop'),
    'input at main': ("```python\ndef f(x):\n    return x\n\nif __name__ == '__main__':\n    print(f(int(input())))\n```", 'stop'),
    'class wrapper assigned': ('```python\nclass S:\n    def f(self, x):\n        return x\n\nf = S().f\n```', 'stop'),
    'functools partial': ('```python\nfrom functools import partial\ndef g(a, x):\n    return x\nf = partial(g, 1)\n```', 'stop'),
    'generator helper': ('```python\ndef f(x):\n    def g():\n        yield x\n    return next(g())\n```', 'stop'),
    'decorated lru': ('```python\nfrom functools import lru_cache\n@lru_cache(maxsize=None)\ndef f(x):\n    return x\n```', 'stop'),
    'global state print': ("```python\nprint('hello')\ncache = {}\ndef f(x):\n    return cache.setdefault(x, x)\n```", 'stop'),
    'walrus': ('```python\ndef f(x):\n    if (y := x) is not None:\n        return y\n```', 'stop'),
    'nested triple quote with backticks': ("```python\ndef f(x):\n    s = '''\n```\n'''\n    return x\n```", 'stop'),
    'thinking with fence': ('<think>\n```python\ndef f(x):\n    return 0\n```\n</think>\n```python\ndef f(x):\n    return x\n```', 'stop'),
    'thinking unopened': ('Let me think. ```python\ndef f(x): return 0\n```\n</think>\n```python\ndef f(x):\n    return x\n```', 'stop'),
    'refusal-like preamble': ("I'm sorry for the confusion earlier. Here is the code:\n```python\ndef f(x):\n    return x\n```", 'stop'),
    'zh prose': ('好的，下面是代码：\n\n```python\ndef f(x):\n    return x\n```\n\n**说明**：该函数返回 x。', 'stop'),
    'zh prose unfenced': ('代码如下：\n\ndef f(x):\n    return x\n\n说明：返回 x 本身。', 'stop'),
    'plain colon prose': ('Solution: \ndef f(x):\n    return x', 'stop'),
    'prose w/o blank': ("Here's the function:\ndef f(x):\n    return x\nThis works because it returns x.", 'stop'),
    'two same defs in answer': ('```python\ndef f(x):\n    return x\n```\n\nFull code:\n```python\ndef f(x):\n    return x\n```', 'stop'),
    'fence with output': ('```python\ndef f(x):\n    return x\nprint(f(3))\n```\nOutput:\n```\n3\n```', 'stop'),
    'output tag text': ('```python\ndef f(x):\n    return x\n```\nOutput:\n```text\n3\n```', 'stop'),
    'untagged code then untagged output': ('```\ndef f(x):\n    return x\n```\nOutput:\n```\n3\n```', 'stop'),
    'closed fence, prose cut': ('```python\ndef f(x):\n    return x\n```\nThe function ret', 'length'),
    'usage fence cut': ('```python\ndef f(x):\n    return x\n```\nUsage:\n```python\nprint(f(', 'length'),
    'helper used only in comment': ('```python\ndef f(x):\n    # see result below\n    return x\n```\n```python\nresult = undefined_thing(\n```', 'stop'),
    'docstring names usage var': ('```python\ndef f(x):\n    """Return value."""\n    return x\n```\n```python\nvalue = f(3\nprint(value\n```', 'stop'),
    'self-attribute name': ('```python\ndef f(x):\n    y = [x]\n    y.append(x)\n    return y.pop()\n```\n```python\nappend = 5 +\n```', 'stop'),
    'async?': ('```python\nasync def f(x):\n    return x\n```', 'stop'),
    'bold filename': ('**main.py**\n```python\ndef f(x):\n    return x\n```', 'stop'),
    'fence five tildes': ('~~~~~python\ndef f(x):\n    return x\n~~~~~', 'stop'),
    'unicode identifiers': ('```python\ndef f(x):\n    结果 = x\n    return 结果\n```', 'stop'),
    'encoding line': ('```python\n# -*- coding: utf-8 -*-\ndef f(x):\n    return x\n```', 'stop'),
    'shebang': ('#!/usr/bin/env python3\ndef f(x):\n    return x', 'stop'),
    'form feed': ('```python\n\x0cdef f(x):\n    return x\n```', 'stop'),
    'trailing spaces after fence': ('```python   \ndef f(x):\n    return x\n```   ', 'stop'),
    'setrecursion': ('```python\nimport sys\nsys.setrecursionlimit(5000)\ndef f(x):\n    return x\n```', 'stop'),
    'threading import ok': ('```python\nimport threading\nlock = threading.Lock()\ndef f(x):\n    with lock:\n        return x\n```', 'stop'),
    'numpyless': ('```python\nfrom __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    v: int\ndef f(x: int) -> int:\n    return P(x).v\n```', 'stop'),
    'tempfile use': ("```python\nimport tempfile\ndef f(x):\n    with tempfile.TemporaryFile('w+') as t:\n        t.write(str(x)); t.seek(0)\n        return int(t.read())\n```", 'stop'),
    'random seeded time import': ('```python\nimport time, random\ndef f(x):\n    random.seed(1); time.time()\n    return x\n```', 'stop'),
    'logging': ("```python\nimport logging\nlogging.basicConfig(level=logging.DEBUG)\ndef f(x):\n    logging.debug('x=%s', x)\n    return x\n```", 'stop'),
    'xml-tag answer': ('<answer>\ndef f(x):\n    return x\n</answer>', 'stop'),
    'fence closing on code line': ('```python\ndef f(x):\n    return x```', 'stop'),
}  # fmt: skip

WRONG = {
    'int subclass eq': ('class I(int):\n    def __eq__(s,o): return True\n    __hash__=int.__hash__\ndef f(x): return I(0)', SUCCESSOR, 'wrong_result', 'stop'),
    'str lie': ("class S(str):\n    def __eq__(s,o): return True\ndef f(x): return S('no')", SUCCESSOR, 'wrong_result', 'stop'),
    'list subclass': ('class L(list):\n    def __eq__(s,o): return True\ndef f(x): return L([9])', SORTED, 'wrong_result', 'stop'),
    'dict?': ("def f(x): return {'a':1}", SUCCESSOR, 'wrong_result', 'stop'),
    'bool for int': ('def f(x): return True', {"entry_point": "f", "cases": [{"args": [1], "expect": 1}]}, 'wrong_result', 'stop'),
    'int for bool': ('def f(x): return 1', TRUTH, 'wrong_result', 'stop'),
    'tuple?': ('def f(x): return iter([1,2,3])', SORTED, 'wrong_result', 'stop'),
    'string num': ('def f(x): return str(x+1)', SUCCESSOR, 'wrong_result', 'stop'),
    'float near': ('def f(x): return 0.3334', THIRD, 'wrong_result', 'stop'),
    'nan': ("def f(x): return float('nan')", THIRD, 'wrong_result', 'stop'),
    'inf': ("def f(x): return float('inf')", THIRD, 'wrong_result', 'stop'),
    'Decimal': ('from decimal import Decimal\ndef f(x): return Decimal(x+2)', SUCCESSOR, 'wrong_result', 'stop'),
    'prints not returns': ('def f(x): print(x+1)', SUCCESSOR, 'wrong_result', 'stop'),
    'exit at import': ('import sys\nsys.exit(0)\ndef f(x): return x+1', SUCCESSOR, 'crashed', 'stop'),
    'exec exit': ("exec('import os; os._exit(0)')\ndef f(x): return x+1", SUCCESSOR, 'crashed', 'stop'),
    'atexit lambda': ('import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(x): return 0', SUCCESSOR, 'wrong_result', 'stop'),
    'atexit in wrong': ('import atexit, os, sys\ndef f(x):\n    os.kill(os.getpid(), 15)\n', SUCCESSOR, 'crashed', 'stop'),
    'raise KI': ('def f(x): raise KeyboardInterrupt', SUCCESSOR, 'crashed', 'stop'),
    'raise GeneratorExit': ('def f(x): raise GeneratorExit', SUCCESSOR, 'crashed', 'stop'),
    'baseexc': ('class E(BaseException): pass\ndef f(x): raise E', SUCCESSOR, 'crashed', 'stop'),
    'del builtins': ('import builtins\nbuiltins.print=None\ndel builtins.len\ndef f(x): return 0', SUCCESSOR, 'crashed', 'stop'),
    'patch json': ("import json\njson.dumps=lambda *a,**k:'2'\njson.JSONEncoder.encode=lambda s,o:'2'\ndef f(x): return 0", SUCCESSOR, 'forged', 'stop'),
    'patch os.write': ("import os\nw=os.write\nos.write=lambda fd,b: w(fd,b.replace(b'0',b'2'))\ndef f(x): return 0", SUCCESSOR, 'forged', 'stop'),
    'settrace': ('import sys\ndef t(f,e,a): return t\nsys.settrace(t)\ndef f(x): return 0', SUCCESSOR, 'wrong_result', 'stop'),
    'gc find expected': ("import gc\ndef f(x):\n    for o in gc.get_objects():\n        if isinstance(o,dict) and 'expect' in o: return o['expect']\n    return 0", SUCCESSOR, 'wrong_result', 'stop'),
    'read argv': ('import sys\ndef f(x): return sys.argv', SUCCESSOR, 'wrong_result', 'stop'),
    'stack overflow': ('def f(x): return f(x)', SUCCESSOR, 'crashed', 'stop'),
    'memoryview': ("def f(x): return memoryview(b'ab')", SUCCESSOR, 'wrong_result', 'stop'),
    'mutates arg then none': ('def f(x): x.sort()', SORTED, 'wrong_result', 'stop'),
    'set unordered': ('def f(x): return {1,2,3}', SORTED, 'wrong_result', 'stop'),
    'commented answer': ('# def f(x): return x+1', SUCCESSOR, 'no_code', 'stop'),
    'string answer': ('"""\ndef f(x): return x+1\n"""', SUCCESSOR, 'wrong_format', 'stop'),
    'inside if False': ('if False:\n    def f(x): return x+1', SUCCESSOR, 'wrong_format', 'stop'),
    'nested only': ('def g():\n    def f(x): return x+1\n    return f', SUCCESSOR, 'wrong_format', 'stop'),
    'wrong arity': ('def f(): return 2', SUCCESSOR, 'crashed', 'stop'),
    'pass': ('def f(x):\n    pass', SUCCESSOR, 'wrong_result', 'stop'),
    'ellipsis': ('def f(x): ...', SUCCESSOR, 'wrong_result', 'stop'),
    'notimpl': ('def f(x): raise NotImplementedError', SUCCESSOR, 'crashed', 'stop'),
    'class named f': ('class f:\n    def __init__(s,x): s.x=x+1\n    def __eq__(s,o): return True', SUCCESSOR, 'wrong_result', 'stop'),
    'final wrong draft right': ('```python\ndef f(x): return x+1\n```\nBetter, final:\n```python\ndef f(x): return x+2\n```', SUCCESSOR, 'wrong_result', 'stop'),
    'pseudo': ('```pseudocode\nFUNCTION f(x): RETURN x+1\n```', SUCCESSOR, 'wrong_format', 'stop'),
    'python in json fence': ('```json\ndef f(x): return x+1\n```', SUCCESSOR, 'wrong_format', 'stop'),
    'diff fence': ('```diff\n+def f(x):\n+    return x+1\n```', SUCCESSOR, 'wrong_format', 'stop'),
    'js answer': ('```javascript\nfunction f(x){return x+1}\n```', SUCCESSOR, 'wrong_format', 'stop'),
    'fullwidth paren': ('```python\ndef f（x）:\n    return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'zh colon': ('```python\ndef f(x)：\n    return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'smart quotes': ('```python\ndef f(x):\n    s = “a”\n    return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'nbsp indent': ('```python\ndef f(x):\n\xa0\xa0\xa0\xa0return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'zero width in name': ('```python\ndef f\u200b(x):\n    return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'trailing prose in fence': ('```python\ndef f(x):\n    return x+1\n\nThis function returns the successor of x.\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'line numbers': ('```python\n1 def f(x):\n2     return x+1\n```', SUCCESSOR, 'does_not_compile', 'stop'),
    'empty fence': ('```python\n\n```', SUCCESSOR, 'no_code', 'stop'),
    'only comment fence': ('```python\n# TODO\n```', SUCCESSOR, 'no_code', 'stop'),
    'only thinking': ('<think>def f(x): return x+1</think>', SUCCESSOR, 'no_answer', 'stop'),
    'bom only': ('\ufeff', SUCCESSOR, 'no_answer', 'stop'),
    'zw only': ('\u200b\n\u200d', SUCCESSOR, 'no_answer', 'stop'),
    'nbsp only': ('\xa0\n', SUCCESSOR, 'no_answer', 'stop'),
    'fence marks only': ('```\n```', SUCCESSOR, 'no_code', 'stop'),
    'just python': ('python', SUCCESSOR, 'no_code', 'stop'),
    'prompt echo': ('def f(x):', SUCCESSOR, 'does_not_compile', 'stop'),
    'eval input': ('def f(x): return eval(input())', SUCCESSOR, 'crashed', 'stop'),
    'circular': ('def f(x):\n    a=[]\n    a.append(a)\n    return a', SORTED, 'output_limit', 'stop'),
    'lazy class getattr': ('class P:\n    def __getattr__(s,n): return 2\n    def __index__(s): return 2\n    def __int__(s): return 2\ndef f(x): return P()', SUCCESSOR, 'wrong_result', 'stop'),
    'enum': ('import enum\nclass E(enum.IntEnum):\n    A=2\ndef f(x): return E.A', {'entry_point': 'f', 'cases': [{'args': [1], 'expect': 2}]}, 'wrong_result', 'stop'),
    'truncated closed': ('```python\ndef f(x):\n    return (x+1\n```', SUCCESSOR, 'does_not_compile', 'length'),
    'truncated open': ('```python\ndef f(x):\n    return x+', SUCCESSOR, 'truncated', 'length'),
    'truncated unfenced': ('def f(x):\n    return (x+', SUCCESSOR, 'truncated', 'length'),
    'truncated prose only': ('Let me think about this', SUCCESSOR, 'truncated', 'length'),
    'trunc. fence then prose': ('```python\ndef f(x):\n    return (x+1\n```\nThis is', SUCCESSOR, 'does_not_compile', 'length'),
}  # fmt: skip


def grade(text: str, tests: Any, stop: Any) -> Grade:
    evalset = EvalSet(name="cases", task="code", items=(), grader=GraderSpec(name="code"))
    return grader_for(evalset)(Answer(text=text, stop=stop), Item(id="1", row={"tests": tests}))


@pytest.mark.parametrize("name", RIGHT)
def test_right_in_odd_dress(name: str) -> None:
    text, stop = RIGHT[name]
    found = grade(text, IDENTITY, stop)
    assert (found.score, found.failure) == (1.0, "none"), found
    assert found.how and found.extracted


@pytest.mark.parametrize("name", WRONG)
def test_wrong_in_good_dress(name: str) -> None:
    text, tests, failure, stop = WRONG[name]
    found = grade(text, tests, stop)
    assert (found.score, found.failure) == (0.0, failure), found
    assert found.why
