"""Questions, concepts and signals of seven languages, and of turns that mix them."""

import json

import pytest

from tests.talk import a_thread, derived

TALK: dict[str, tuple[tuple[str, ...], ...]] = {
    "zh": (
        (
            "潮汐钟的擒纵轮为什么总是停\uff1f我们换了发条\uff0c还是停。",
            "> 擒纵轮缺油。检查擒纵轮和发条。",
            "我们决定用合成油。",
            "> 好的\uff0c用合成油。",
            "通了\uff0c谢谢。",
        ),
        (
            "擒纵轮为什么停了\uff1f春潮之后又停了。",
            "> 擒纵轮和发条。",
            "下一步\uff1a测量擒纵轮的间隙。",
        ),
        (
            "请把潮汐表的图改成蓝色",
            "> 好。",
            "不对\uff0c是海图基准面。",
        ),
    ),
    "de": (
        (
            (
                "Warum bleibt das Hemmungsrad nach jeder Springtide stehen? "
                "Wir haben die Feder getauscht."
            ),
            "> Das Hemmungsrad braucht Öl, die Feder auch.",
            "Wir haben uns für Synthetiköl entschieden.",
            "> Gut.",
            "Das hat funktioniert, danke.",
        ),
        (
            "Wieso bleibt das Hemmungsrad stehen?",
            "> Hemmungsrad und Feder prüfen.",
            "Nächster Schritt: das Spiel am Hemmungsrad messen.",
        ),
        (
            "Ändere die Farbe der Gezeitentafel auf Blau",
            "> Erledigt.",
            "Nein, das ist falsch, es ist das Seekartennull.",
        ),
    ),
    "hi": (
        (
            "ज्वार घड़ी का पहिया क्यों रुकता है? हमने स्प्रिंग बदल दी।",
            "> पहिया सूखा है। पहिया और स्प्रिंग देखें।",
            "हमने सिंथेटिक तेल चुना।",
            "> ठीक है।",
            "काम कर गया, धन्यवाद।",
        ),
        (
            "पहिया क्यों रुकता है?",
            "> पहिया और स्प्रिंग।",
            "अगला कदम पहिया नापना है।",
        ),
        (
            "ज्वार तालिका का रंग बदलो",
            "> हो गया।",
            "नहीं, यह गलत है।",
        ),
    ),
    "ja": (
        (
            "潮汐時計の脱進輪はなぜ止まるのですか\uff1fぜんまいを交換しました。",
            "> 脱進輪に油が必要です。脱進輪とぜんまい。",
            "合成油に決めました。",
            "> はい。",
            "動きました、ありがとう。",
        ),
        (
            "どうして脱進輪が止まりますか\uff1f",
            "> 脱進輪とぜんまい。",
            "次は脱進輪の隙間を測る。",
        ),
        (
            "潮汐表の色を青に変更してください",
            "> 完了。",
            "いいえ、違います。",
        ),
    ),
    "fr": (
        (
            (
                "Pourquoi la roue d'échappement s'arrête après chaque grande marée ? "
                "Nous avons changé le ressort."
            ),
            "> La roue d'échappement manque d'huile.",
            "Nous avons décidé de prendre une huile synthétique.",
            "> Bien.",
            "Ça marche maintenant, merci.",
        ),
        (
            "Pourquoi la roue d'échappement s'arrête-t-elle ?",
            "> La roue d'échappement et le ressort.",
            "Il reste à mesurer le jeu de la roue.",
        ),
    ),
    "es": (
        (
            "¿Por qué se para la rueda de escape después de cada marea viva? Cambiamos el muelle.",
            "> La rueda de escape está seca.",
            "Decidimos usar aceite sintético.",
            "> Bien.",
            "Ya funciona, gracias.",
        ),
        (
            "¿Por qué se para la rueda de escape?",
            "> La rueda de escape y el muelle.",
            "Queda pendiente medir el juego de la rueda.",
        ),
    ),
}
# Concepts that two threads share.
EXPECTED = {
    "de": {"Hemmungsrad", "Feder"},
    "es": {"rueda", "escape", "muelle"},
    "fr": {"roue", "ressort"},
    "hi": {"पहिया", "स्प्रिंग", "ज्वार"},
    "ja": {"脱進輪"},
    "zh": {"擒纵轮", "发条"},
}


@pytest.fixture(scope="module", params=sorted(TALK))
def spoken(request):
    code = request.param
    talk = [a_thread(f"{code}{n}", *turns, day=n) for n, turns in enumerate(TALK[code])]
    return code, derived(talk)[0]


def signals(ground, kind):
    return {
        one["type"]
        for turn in ground.turns
        for one in json.loads(turn.signals)
        if one["kind"] == kind
    }


def test_a_question_is_heard_and_its_acceptance(spoken):
    code, ground = spoken
    first = TALK[code][0][0]
    answered = [one for one in ground.questions if one.status.value == "answered"]
    assert [one.intent for one in answered] == ["explain"]
    assert first.startswith(answered[0].text)
    others = [one for one in ground.questions if one.status.value == "open"]
    assert {one.intent for one in others} <= {"explain", "task"}
    assert len(others) == len(TALK[code]) - 1


def test_concepts_are_whole_words_that_both_threads_share(spoken):
    code, ground = spoken
    assert {one.label for one in ground.concepts if one.df > 1} == EXPECTED[code]


def test_decisions_frontiers_and_corrections_are_heard(spoken):
    code, ground = spoken
    assert signals(ground, "decision")
    assert signals(ground, "frontier") == {"next"}
    assert bool(signals(ground, "correction")) is (len(TALK[code]) > 2)


def test_languages_may_be_mixed_in_one_sentence_and_one_thread():
    ground, _ = derived(
        [
            a_thread(
                "a",
                "Kurze Frage: why does the escape wheel stop nach der Springtide?",
                "> The escape wheel is dry.",
                "Nächster Schritt: measure the escape wheel.",
            ),
            a_thread(
                "b",
                "擒纵轮 escape wheel 为什么停\uff1f please check the `escape_wheel` log",
                "> The escape wheel.",
                day=1,
            ),
        ]
    )
    assert {(one.text, one.intent) for one in ground.questions} == {
        ("Kurze Frage: why does the escape wheel stop nach der Springtide?", "verify"),
        ("擒纵轮 escape wheel 为什么停\uff1f", "explain"),
        ("please check the `escape_wheel` log", "task"),
    }
    assert [one.label for one in ground.concepts if one.df > 1] == ["escape wheel"]


def test_a_turn_too_short_to_tell_its_language_is_read_in_that_of_the_one_before():
    told = ("Warum bleibt das Hemmungsrad stehen?", "> Es ist trocken.", "Reihenfolge geändert")
    ground, _ = derived([a_thread("a", *told), a_thread("b", *told, day=1)])
    assert "Hemmungsrad" in {one.label for one in ground.concepts}
