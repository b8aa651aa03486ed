"""The agents: how each is told about the model, asked to do something, and operated at its terminal."""

import json
from dataclasses import dataclass, field


@dataclass
class Agent:
    name: str
    # Where its login is in the home, and one that it takes.
    login: str
    token: dict
    # Variables that lead it to the model. `{url}` is the model's address, and `{host}` the host and port of it.
    variables: dict
    # Arguments for a prompt without a terminal, and for one that goes on with the last conversation.
    once: list
    again: list
    # Arguments at a terminal, and those that go on with the last conversation.
    terminal: list
    terminal_again: list
    # Where its conversations are, in the home.
    state: str
    # What it says when it waits for a prompt, and what ends it.
    ready: str
    leave: list
    # What it asks before, with the keys that answer.
    answers: list = field(default_factory=list)
    # Arguments that come before all others.
    always: list = field(default_factory=list)
    # Options for Offshoot.
    options: list = field(default_factory=lambda: ["--trust-agent"])
    # Settings of the user: path -> document.
    settings: dict = field(default_factory=dict)
    # The variable of its key, and the host that gets it by the preset where no variable says who does.
    key: str = ""
    key_host: str = ""
    # What of the host's home it may write beside its login.
    writes: list = field(default_factory=list)


AGENTS = [
    Agent(
        name="claude",
        login=".claude/.credentials.json",
        token={
            "claudeAiOauth": {
                "accessToken": "sk-ant-oat01-TOKEN",
                "refreshToken": "sk-ant-ort01-TOKEN",
                "expiresAt": 4102444800000,
                "scopes": ["user:inference", "user:profile"],
                "subscriptionType": "max",
            }
        },
        variables={"ANTHROPIC_BASE_URL": "{url}"},
        once=["-p"],
        again=["--continue", "-p"],
        terminal=[],
        terminal_again=["--continue"],
        state=".claude/projects/*/*.jsonl",
        key="ANTHROPIC_API_KEY",
        ready=r"bypass permissions on|\? for shortcuts",
        leave=["/exit", "Enter"],
        answers=[
            (r"Choose the text style|Syntax theme", ["Enter"]),
            (r"Press Enter to continue|Enter to confirm", ["Enter"]),
        ],
        settings={".claude.json": {"hasCompletedOnboarding": True, "theme": "dark", "lastOnboardingVersion": "2.1.197"}},
        writes=[".claude.json"],
    ),
    Agent(
        name="codex",
        login=".codex/auth.json",
        token={"auth_mode": "apikey", "OPENAI_API_KEY": "sk-TOKEN"},
        # It takes no address from a variable, and its newest models are given their tools in another way.
        variables={},
        always=["-c", "openai_base_url={url}/v1", "-c", "model=gpt-5.2"],
        options=["--trust-agent", "--net", "allow={host}"],
        once=["exec"],
        again=["exec", "resume", "--last"],
        terminal=[],
        terminal_again=["resume", "--last"],
        state=".codex/sessions/*/*/*/*.jsonl",
        key="CODEX_API_KEY",
        key_host="api.openai.com",
        ready=r"\? for shortcuts|Ask Codex",
        leave=["/exit", "Enter"],
    ),
    Agent(
        name="opencode",
        login=".local/share/opencode/auth.json",
        token={"anthropic": {"type": "api", "key": "sk-TOKEN"}},
        variables={"ANTHROPIC_BASE_URL": "{url}/v1", "OPENCODE_PERMISSION": json.dumps({"*": "allow"})},
        once=["run", "-m", "anthropic/claude-sonnet-4-5"],
        again=["run", "-m", "anthropic/claude-sonnet-4-5", "--continue"],
        terminal=["-m", "anthropic/claude-sonnet-4-5"],
        terminal_again=["-m", "anthropic/claude-sonnet-4-5", "--continue"],
        state=".local/share/opencode/opencode.db",
        key="ANTHROPIC_API_KEY",
        ready=r"ctrl\+p",
        leave=["/exit", "Enter"],
        options=[],
    ),
    Agent(
        name="gemini",
        login=".gemini/oauth_creds.json",
        token={"access_token": "TOKEN", "refresh_token": "TOKEN", "expiry_date": 4102444800000},
        variables={"GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_API_KEY": "TOKEN"},
        once=["-p"],
        again=["--resume", "latest", "-p"],
        terminal=[],
        terminal_again=["--resume", "latest"],
        state=".gemini/tmp/*/chats/*.json*",
        key="GEMINI_API_KEY",
        ready=r"Type your message",
        leave=["/quit", "Enter"],
        settings={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
    ),
    Agent(
        name="qwen",
        login=".qwen/oauth_creds.json",
        token={"access_token": "TOKEN", "refresh_token": "TOKEN", "expiry_date": 4102444800000},
        variables={"OPENAI_BASE_URL": "{url}/v1", "OPENAI_API_KEY": "TOKEN", "OPENAI_MODEL": "scripted"},
        once=["-p"],
        again=["--continue", "-p"],
        terminal=[],
        terminal_again=["--continue"],
        state=".qwen/projects/*/chats/*.jsonl",
        key="OPENAI_API_KEY",
        ready=r"Type your message",
        leave=["/quit", "Enter"],
        settings={".qwen/settings.json": {"security": {"auth": {"selectedType": "openai"}}}},
    ),
]
