"""Layers of settings, what each may hold, and what is said when one is wrong."""

import json
import tomllib

import pytest

from graphstore.errors import SettingsError
from service import settings


@pytest.fixture
def user():
    file = settings.user_file()
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def project(tmp_path):
    (tmp_path / ".clew").mkdir()
    return tmp_path / ".clew" / "clew.toml"


def value(loaded, key):
    row = settings.row(loaded, key)
    return json.loads(row.value), row.origin


def test_later_layers_win_and_each_is_named(user, project, tmp_path, monkeypatch):
    user.write_text("[recall]\nlimit = 2\n[scout]\ntop = 2\nk_min = 4\n[store]\nwait_s = 1\n")
    project.write_text("[scout]\ntop = 3\n[recall]\nlimit = 3\n")
    monkeypatch.setenv("CLEW_RECALL__LIMIT", "4")
    monkeypatch.setenv("CLEW_STORE__WAIT_S", "5")
    loaded = settings.load({"store.wait_s": "6"}, tmp_path)
    assert value(loaded, "scout.max_cycle") == (6, "default")
    assert value(loaded, "scout.k_min") == (4, str(user))
    assert value(loaded, "scout.top") == (3, str(project))
    assert value(loaded, "recall.limit") == (4, "environment")
    assert value(loaded, "store.wait_s") == (6, "flag")


def test_home_and_workspace_have_short_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))
    monkeypatch.setenv("CLEW_WORKSPACE", "team")
    assert settings.load({}, tmp_path).settings.workspace_path == tmp_path / "team"


def test_without_a_home_the_users_data_folder_is_used(tmp_path):
    path = settings.load({}, tmp_path).settings.workspace_path
    assert path.parts[-2:] == ("clew", "default")


def test_lists_are_typed_with_commas_or_as_json(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_INGEST__ME", "mira, m.k.")
    assert settings.load({}, tmp_path).settings.ingest.me == ("mira", "m.k.")
    monkeypatch.setenv("CLEW_INGEST__ME", '["a, b"]')
    assert settings.load({}, tmp_path).settings.ingest.me == ("a, b",)
    monkeypatch.setenv("CLEW_INGEST__ME", "[a")
    with pytest.raises(SettingsError, match=r"ingest\.me"):
        settings.load({}, tmp_path)


@pytest.mark.parametrize(
    ("key", "given", "said"),
    [
        ("store.wait_s", "-1", r"store\.wait_s is not valid: 0 to 3600"),
        ("store.engine", "abacus", r"store\.engine is not valid: one of auto, kuzu, ladybug"),
        ("ingest.mask", "perhaps", r"ingest\.mask is not valid: true or false"),
        ("store.workspace", "../up", r"store\.workspace is not valid: text like \^\[A-Za"),
        ("ingest.me", 3, r"ingest\.me is not valid: a list of words"),
        ("recall.colour", "red", r"recall\.colour is not valid: no such setting"),
        ("colour", "red", "colour is not valid: no such setting"),
        ("store", "red", "store is not valid: no such setting"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed_and_never_quoted(tmp_path, key, given, said):
    with pytest.raises(SettingsError, match=said) as caught:
        settings.load({key: given}, tmp_path)
    assert f"'{given}'" not in str(caught.value)
    assert f" {given}" not in str(caught.value)


def test_a_value_inside_a_value_is_no_setting(tmp_path):
    with pytest.raises(SettingsError):
        settings.load({"store": "here", "store.wait_s": "1"}, tmp_path)


@pytest.mark.parametrize(
    "key", ["store.home", "ingest.mask", "ingest.me_too", "dream.enabled", "store.engine"]
)
def test_a_project_file_may_set_only_what_cannot_hurt(project, tmp_path, key):
    project.write_text(f"{key} = 'x'\n")
    with pytest.raises(SettingsError, match="project file"):
        settings.load({}, tmp_path)


def test_a_project_file_may_choose_how_to_look(project, tmp_path):
    project.write_text("ingest.me = ['mira']\ningest.naive_tz = 'Europe/Paris'\nscout.top = 5\n")
    found = settings.load({}, tmp_path).settings
    assert (found.ingest.me, found.ingest.naive_tz, found.scout.top) == (
        ("mira",),
        "Europe/Paris",
        5,
    )


@pytest.mark.parametrize("content", [b"[store", b"\xff\xfe", b"a = b = c"])
def test_a_file_that_is_no_toml_is_named(user, tmp_path, content):
    user.write_bytes(content)
    with pytest.raises(SettingsError, match=r"clew\.toml"):
        settings.load({}, tmp_path)


class TestWriting:
    def write(self, folder, key, text):
        return settings.write(settings.load({}, folder), key, text, folder)

    def test_a_setting_is_kept_with_its_type(self, tmp_path):
        self.write(tmp_path, "store.workspace", "123")
        self.write(tmp_path, "ingest.mask_pii", "true")
        self.write(tmp_path, "ingest.me", "a,b")
        assert self.write(tmp_path, "recall.limit", "7").value == "7"
        assert tomllib.loads(settings.user_file().read_text("utf-8")) == {
            "ingest": {"mask_pii": True, "me": ["a", "b"]},
            "recall": {"limit": 7},
            "store": {"workspace": "123"},
        }
        assert settings.load({}, tmp_path).settings.store.workspace == "123"

    @pytest.mark.parametrize(
        ("key", "text"), [("recall.limit", "0"), ("recall.limit", "many"), ("recall.size", "1")]
    )
    def test_a_wrong_one_changes_nothing(self, tmp_path, key, text):
        self.write(tmp_path, "scout.top", "9")
        before = settings.user_file().read_bytes()
        with pytest.raises(SettingsError):
            self.write(tmp_path, key, text)
        assert settings.user_file().read_bytes() == before

    def test_a_stronger_layer_is_shown_as_what_counts(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CLEW_RECALL__LIMIT", "4")
        shown = self.write(tmp_path, "recall.limit", "9")
        assert (shown.value, shown.origin) == ("4", "environment")


def test_every_setting_says_what_it_is_and_what_is_allowed(tmp_path):
    rows = settings.load({}, tmp_path).rows
    assert len(rows) == len({row.key for row in rows}) > 40
    assert all(row.allowed and row.about for row in rows)


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("dream.time_zone", "Mars/Olympus"),
        ("dream.time_zone", "../etc"),
        ("dream.window", "02:00-25:00"),
        ("dream.window", "2-5"),
    ],
)
def test_hours_and_zones_of_dreaming_exist(tmp_path, key, wrong):
    with pytest.raises(SettingsError, match=key.replace(".", r"\.")):
        settings.load({key: wrong}, tmp_path)


def test_the_keys_of_others_are_heeded_below_our_own(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "word-of-others")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    llm = settings.load({}, tmp_path).settings.llm
    assert llm.api_key.get_secret_value() == "word-of-others"
    assert (llm.base_url, llm.model) == ("https://models.example/v1", "")
    monkeypatch.setenv("CLEW_LLM__API_KEY", "own-word")
    assert settings.load({}, tmp_path).settings.llm.api_key.get_secret_value() == "own-word"


def test_a_key_is_never_shown(tmp_path, monkeypatch):
    assert value(settings.load({}, tmp_path), "llm.api_key") == ("", "default")
    monkeypatch.setenv("CLEW_LLM__API_KEY", "own-word")
    loaded = settings.load({}, tmp_path)
    assert value(loaded, "llm.api_key") == ("set", "environment")
    assert "own-word" not in repr(loaded) + loaded.model_dump_json()


def test_a_key_set_by_command_lies_in_a_file_for_its_owner_alone(tmp_path):
    shown = settings.write(settings.load({}, tmp_path), "llm.api_key", "own-word", tmp_path)
    assert shown.value == '"set"'
    assert settings.user_file().stat().st_mode & 0o777 == 0o600
    assert settings.load({}, tmp_path).settings.llm.api_key.get_secret_value() == "own-word"


def test_a_key_in_a_file_that_others_can_read_is_refused(user, tmp_path):
    user.write_text('llm.api_key = "own-word"\n')
    user.chmod(0o644)
    with pytest.raises(SettingsError, match="mode 0600") as caught:
        settings.load({}, tmp_path)
    assert "own-word" not in str(caught.value)


def test_a_project_file_chooses_no_endpoint(project, tmp_path):
    project.write_text('llm.base_url = "https://evil.example/v1"\n')
    with pytest.raises(SettingsError, match="a project file may not set it"):
        settings.load({}, tmp_path)


@pytest.mark.parametrize(
    "url", ["models.example/v1", "ftp://models.example", "https://me:word@models.example/v1"]
)
def test_an_endpoint_is_an_address_without_a_word_in_it(url, tmp_path):
    with pytest.raises(SettingsError, match=r"llm\.base_url"):
        settings.load({"llm.base_url": url}, tmp_path)
