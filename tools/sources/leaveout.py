"""What a corpus leaves out: folders of tools, files of secrets, formats without text, what Git ignores.

The reasons are closed words (`REASONS`); a corpus counts what it left out by them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import translate

from pathspec import GitIgnoreSpec

from researchdesk.state.redaction import is_secret_like

MAX_RAW = 20_000_000

REASONS = {
    "ignored_folder": "folders of tools, caches and installed packages",
    "gitignored": "ignored by a .gitignore",
    "secret": "files that usually hold secrets",
    "binary": "no text, or a format without an extractor",
    "symlink": "links to something that is read under its own name",
    "symlink_outside": "links that leave the corpus",
    "special": "pipes, sockets and devices",
    "too_large": f"larger than {MAX_RAW // 1_000_000} MB, or more than 5,000,000 characters",
    "empty": "no text inside",
    "unreadable": "could not be read or decoded",
    "bad_name": "the path is not valid Unicode, holds control characters or is too long",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FOLDERS = _words(
    ".git .hg .svn .bzr .jj node_modules bower_components jspm_packages __pycache__ .venv venv virtualenv .tox .nox "
    ".eggs .mypy_cache .pytest_cache .ruff_cache .hypothesis .cache .ipynb_checkpoints .idea .vscode .gradle "
    ".terraform .next .nuxt .svelte-kit .parcel-cache .turbo .yarn .pnpm-store .bundle .cargo .rustup .npm .dart_tool "
    ".researchdesk .ssh .gnupg .aws .azure .gcloud .kube .docker .password-store .trash .trashes __macosx "
    "site-packages"
)
# A folder with one of these is a virtual environment, or a desk's home (its working copies are no sources).
_MARKERS = frozenset({"pyvenv.cfg", "ledger.sqlite"})
# Settings of the corpus itself: neither documents nor worth counting.
_SETTINGS = frozenset(
    {"corpus.toml", ".gitignore", ".gitattributes", ".gitmodules", ".ds_store", "thumbs.db"}
)

_SECRETS = _words(
    ".env .env.* .env-* .envrc *.env .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass pgpass.conf .my.cnf "
    ".mylogin.cnf .git-credentials .htpasswd .htdigest *.pem *.key *.p12 *.pfx *.p8 *.jks *.keystore "
    "*.kdbx *.kdb *.ppk *.ovpn *.pkcs12 *.keychain *.keychain-db *.asc.key *.agekey *.gpg id_rsa* id_dsa* "
    "id_ecdsa* id_ed25519* ssh_host_*_key* authorized_keys known_hosts client_secret*.json "
    "service-account*.json service_account*.json *.serviceaccount.json "
    "application_default_credentials.json gcloud-*.json firebase-adminsdk*.json token.json kubeconfig "
    "kubeconfig.* *.kubeconfig .dockercfg .dockerconfigjson kube.config terraform.tfstate* *.tfstate "
    "*.tfvars *.tfvars.json .terraformrc terraform.rc .vault-token .vault_pass* vault_pass* *.vault "
    ".s3cfg .boto rclone.conf .databrickscfg .bash_history .zsh_history .python_history .psql_history "
    ".mysql_history .node_repl_history wp-config.php master.key .secrets .secrets.* .passwd shadow "
    ".pip.conf pip.conf"
)
# `credentials.md` is a manual, `credentials.json` is a key: these names count unless the file is prose or code.
_SECRET_STEMS = _words(
    "credentials* *.credentials *-credentials* *_credentials* secrets secrets.* secret secret.* passwords "
    "passwords.* api_keys* apikeys* tokens"
)
_PROSE_OR_CODE = _words(
    ".md .markdown .rst .adoc .html .htm .pdf .docx .ipynb .tex .org .py .pyi .js .mjs .jsx .ts .tsx .go "
    ".rs .java .kt .scala .c .h .cc .cpp .hpp .cs .rb .php .swift .ex .exs .hs .ml .clj .lua .sql"
)
_BINARIES = _words(
    ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .ico .icns .heic .avif .psd .ai .sketch .fig .xcf "
    ".mp3 .mp4 .m4a .m4v .wav .ogg .oga .ogv .flac .aac .avi .mov .mkv .webm .wmv .mid "
    ".zip .gz .tgz .bz2 .xz .zst .7z .rar .tar .jar .war .ear .whl .egg .deb .rpm .dmg .iso .img .apk .cab .msi "
    ".exe .dll .so .dylib .o .a .lib .obj .class .pyc .pyo .pyd .wasm .bin .dat .elc .node "
    ".ttf .otf .woff .woff2 .eot .db .sqlite .sqlite3 .duckdb .mdb .parquet .arrow .feather .avro .orc .npy .npz "
    ".pkl .pickle .pt .pth .onnx .h5 .hdf5 .safetensors .gguf .doc .xls .xlsx .xlsm .xlsb .ppt .pptx .odt .ods .odp "
    ".pages .numbers .key .epub .mobi .djvu .lmdb .mo .swf .blend .stl .glb"
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in sorted(patterns)))


_SECRET = _any_of(_SECRETS)
_SECRET_STEM = _any_of(_SECRET_STEMS)


def folder_reason(name: str) -> str:
    """Say why a folder is not entered, by its name; "" where it is."""
    lowered = name.lower()
    return "ignored_folder" if lowered in _FOLDERS or lowered.endswith(".egg-info") else ""


def has_marker(names: Iterable[str]) -> bool:
    """Say whether a folder's entries show a virtual environment or a desk's home."""
    return any(name in _MARKERS for name in names)


def is_setting(name: str) -> bool:
    """Say whether a file steers the corpus and is no document of it."""
    return name.lower() in _SETTINGS


def file_reason(name: str) -> str:
    """Say why a file is not read, by its name; "" where it is."""
    lowered = name.lower()
    if _SECRET.match(lowered) or (
        _SECRET_STEM.match(lowered) and not lowered.endswith(tuple(_PROSE_OR_CODE))
    ):
        return "secret"
    if is_secret_like(name):  # its name could not be recorded, so it could never be archived
        return "secret"
    dot = lowered.rfind(".")
    return "binary" if dot > 0 and lowered[dot:] in _BINARIES else ""


@dataclass(frozen=True, slots=True)
class GitIgnores:
    """The `.gitignore` files that hold at one folder, the deepest last; each with the folder it stands in."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def entering(self, folder: str, read: Callable[[], str]) -> "GitIgnores":
        """Add the `.gitignore` of ``folder`` ("" or ending with "/"); ``read`` gives its text."""
        spec = GitIgnoreSpec.from_lines(_legal_lines(read()))
        return GitIgnores((*self.specs, (folder, spec)))

    def ignores(self, path: str) -> bool:
        """Say whether Git ignores ``path`` (folders end with "/"): the deepest file that speaks of it decides."""
        for folder, spec in reversed(self.specs):
            verdict = spec.check_file(path[len(folder) :]).include
            if verdict is not None:
                return bool(verdict)
        return False


def _legal_lines(text: str) -> Iterator[str]:
    """Give the lines that are patterns; Git, too, passes over what it cannot read."""
    for line in text.splitlines():
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line


@dataclass(slots=True)
class LeftOut:
    """A tally of what was left out: how many by reason, with the first few names of each."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, reason: str, name: str) -> None:
        """Count one; ``reason`` is a key of `REASONS`."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        named = self.examples.get(reason, ())
        if len(named) < 3:
            self.examples[reason] = (*named, name)
