"""Running prose without end, in English and Chinese: a chronicle of a small harbour town, sentence by sentence.

The words are common ones and every sentence is grammatical, so that it tokenises like prose. Nothing in it can be taken
for what a question asks: no sentence has a figure, a code, a key or a sack.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache

__all__ = ["CHARS_PER_TOKEN", "paragraphs"]

CHARS_PER_TOKEN = {"en": 4.6, "zh": 1.5}
"""What a length in tokens is taken for. A tokenizer may need a fifth more or less."""

_WORDS = {
    "en": {
        "who": """
            the baker | the old ferryman | the schoolteacher | a young painter | the widow from the corner house
            the harbour master | the tailor | a travelling musician | the doctor's niece | the lighthouse keeper
            the gardener | the postwoman | a retired judge | the boy from the farm | the innkeeper | a shepherd
            the watchmaker | the choir leader | a visitor from the capital | the carpenter | the librarian
        """,
        "did": """
            waited patiently | walked slowly | stood for a long while | sang quietly | talked about the weather
            looked for a lost glove | read an old letter | drank a cup of tea | fed the gulls
            sketched the boats | listened to the bells | argued about politics | laughed at a story
            mended a torn net | counted the clouds | thought about the winter | shared some bread
            hummed a tune | watched the tide
        """,
        "where": """
            by the fountain | near the old bridge | in front of the town hall | at the end of the pier
            under the chestnut trees | behind the chapel | on the market square | beside the quiet canal
            along the sea wall | in the narrow lane | at the edge of the orchard | on the steps of the school
        """,
        "when": """
            in the early morning | towards evening | after the rain had stopped | before the shops opened
            while the fog was lifting | during the long afternoon | just after sunset | on a windy day
            as the lamps were being lit | when the fair was over | late in the autumn | once the snow had melted
        """,
        "what": """
            the price of fish | an uncle who had gone to sea | the new road across the hills
            a song from the north | the broken weather vane | a wedding in the next village
            the colour of the sky | the best way to keep bees | a play that nobody had understood
            the repair of the church roof | a dog that could open doors
        """,
        "thing": """
            a blue umbrella | a basket of pears | a worn leather book | a cracked violin | a bunch of heather
            a wooden toy horse | a jar of honey | a faded photograph | a pair of heavy boots | a lantern
        """,
        "mood": """
            cheerful | tired | curious | rather quiet | in high spirits | a little sad | content | restless
        """,
    },
    "zh": {
        "who": """
            面包师傅 | 老船夫 | 小学老师 | 一位年轻的画家 | 街角那家的老太太 | 港务主任 | 裁缝 | 一个流浪乐手
            医生的侄女 | 看灯塔的人 | 园丁 | 邮递员 | 一位退休的法官 | 农场家的男孩 | 客栈老板 | 牧羊人 | 钟表匠
            合唱团的指挥 | 从省城来的客人 | 木匠 | 图书管理员
        """,
        "did": """
            耐心地等着 | 慢慢地散步 | 独自散心 | 轻声唱着歌 | 谈论着天气 | 寻找一只丢失的手套 | 读着一封旧信
            喝着热茶 | 喂着海鸥 | 画着港里的小船 | 听着钟声 | 争论着时局 | 被一个故事逗得大笑 | 修补一张破渔网
            望着天上的云 | 想着即将到来的冬天 | 和邻居分着面包 | 哼着一支小曲 | 看着潮水上涨
        """,
        "where": """
            喷泉旁边 | 老桥附近 | 镇公所门前 | 码头的尽头 | 栗子树下 | 小教堂后面 | 集市广场上 | 安静的运河边
            海堤上 | 狭窄的小巷里 | 果园边上 | 学校的台阶上
        """,
        "when": """
            清晨 | 傍晚时分 | 雨停之后 | 店铺开门以前 | 雾气散去的时候 | 漫长的午后 | 太阳刚落山的时候
            一个刮风的日子 | 街灯点亮的时候 | 庙会结束以后 | 深秋时节 | 积雪融化以后
        """,
        "what": """
            鱼的价钱 | 一位出海的叔叔 | 翻过山去的新路 | 一首北方的民歌 | 坏掉的风向标 | 邻村的一场婚礼
            天空的颜色 | 养蜂的诀窍 | 一出谁也没看懂的戏 | 屋顶的修缮 | 一只会开门的狗
        """,
        "thing": """
            一把蓝色的雨伞 | 一篮梨 | 一本磨旧的皮面书 | 一把裂了缝的小提琴 | 一束野花 | 一匹木头小马 | 一罐蜂蜜
            一张褪色的照片 | 一双沉重的靴子 | 一盏灯笼
        """,
        "mood": """
            很高兴 | 有些疲倦 | 充满好奇 | 不太说话 | 兴致很高 | 有一点伤感 | 心满意足 | 坐立不安
        """,
    },
}
_SENTENCES = {
    "en": [
        "{when}, {who} {did} {where}.",
        "{who} met {who} {where} and they talked about {what}.",
        "Nobody could say why {who} carried {thing} {where} {when}.",
        "{who} was {mood} that day, because {who} had spoken about {what}.",
        "It was said that {who} had once left {thing} {where}, and that {who} found it {when}.",
        "{when}, the whole street smelled of fresh bread, and {who} {did} {where}.",
        "{who} asked {who} about {what}, but the answer was lost in the wind.",
        "While {who} {did} {where}, {who} came by with {thing}.",
        "There was a long silence {where}; then {who} began to speak of {what}.",
        "{who} never grew tired of {what}, and {when} {who} had to hear all of it again.",
        "{thing} lay {where}, and {who}, {mood} as always, walked past without noticing it.",
        "In those years people liked to stand {where} {when} and to talk about {what}.",
        "{who} promised to bring {thing} the next time, and {who} was {mood}.",
        "Some held that {what} mattered more than anything else, but {who} only smiled.",
    ],
    "zh": [
        "{when}，{who}在{where}{did}。",
        "{who}在{where}遇见了{who}，两个人谈起了{what}。",
        "谁也说不清，为什么{who}{when}带着{thing}来到{where}。",
        "那天{who}{mood}，因为{who}说起了{what}。",
        "据说{who}曾经把{thing}忘在{where}，后来{when}被{who}捡到了。",
        "{when}，整条街都飘着面包的香味，{who}在{where}{did}。",
        "{who}向{who}打听{what}，可是回答被风吹散了。",
        "{who}在{where}{did}的时候，{who}拿着{thing}走了过来。",
        "{where}安静了很久，然后{who}开始讲{what}。",
        "{who}对{what}从不厌倦，{when}，{who}只好又听了一遍。",
        "{thing}放在{where}，{who}{mood}，走过时并没有留意。",
        "那些年里，人们喜欢{when}站在{where}，聊聊{what}。",
        "{who}答应下次带{thing}来，{who}听了{mood}。",
        "有人觉得{what}比什么都要紧，{who}却只是笑了笑。",
    ],
}
_SLOT = re.compile(r"\{(\w+)\}")


@cache
def _words(lang: str, slot: str) -> tuple[str, ...]:
    """The words for a slot; in the table they are parted by bars."""
    cells = (word.strip() for line in _WORDS[lang][slot].split("\n") for word in line.split("|"))
    return tuple(cell for cell in cells if cell)


def paragraphs(random_: random.Random, lang: str, chars: int) -> list[list[str]]:
    """Paragraphs of four to eight sentences, together about ``chars`` characters long."""
    made: list[list[str]] = []
    length = 0
    sentences = _sentences(random_, lang)
    while length < chars:
        paragraph: list[str] = []
        for _ in range(random_.randint(4, 8)):
            paragraph.append(next(sentences))
            length += len(paragraph[-1]) + (lang == "en")
            if length >= chars:
                break
        made.append(paragraph)
    return made


def _sentences(random_: random.Random, lang: str) -> Iterator[str]:
    """Sentence after sentence, never the same pattern twice in a row, never the same person twice in one."""
    last = ""
    while True:
        pattern = random_.choice([one for one in _SENTENCES[lang] if one != last])
        last = pattern
        people = iter(random_.sample(_words(lang, "who"), 4))
        text = _SLOT.sub(lambda match: _word(random_, lang, match[1], people), pattern)  # noqa: B023
        yield text[0].upper() + text[1:]


def _word(random_: random.Random, lang: str, slot: str, people: Iterator[str]) -> str:
    return next(people) if slot == "who" else random_.choice(_words(lang, slot))
