/*
 * The table of engines.
 */
#include "engine.h"

#include <ctype.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"

#define HANDLE_MAX 128
/* One argument of Linux, NUL included. */
#define TEXT_MAX 131072

/* What each engine gets: no colours, no questions, no news, no network but its
 * model's. */
#define ENGINE_ENV                                                           \
	"HOME=%HOME%", "PATH=/usr/local/bin:/usr/bin:/bin", "TMPDIR=%TMP%",  \
	    "PWD=%WORK%", "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "CI=1", \
	    "DISABLE_AUTOUPDATER=1", "DO_NOT_TRACK=1"

#define CODEX_OPTIONS                                                   \
	"--json", "--skip-git-repo-check", "?m-m", "?m%MODEL%", "?n-c", \
	    "?nsandbox_mode=\"danger-full-access\"", "?s-c",            \
	    "?ssandbox_mode=\"workspace-write\""
static const char *const codex_start[] = { "exec", CODEX_OPTIONS, "-", NULL };
static const char *const codex_resume[] = { "exec", "resume", CODEX_OPTIONS,
	"%HANDLE%", "-", NULL };
static const char *const codex_env[] = { ENGINE_ENV, "CODEX_API_KEY=%KEY%",
	"CODEX_HOME=%HOME%/.codex", NULL };
static const struct engine_file codex_files[] = {
	{ ".codex/config.toml",
	    "model_provider = \"soul\"\n"
	    "approval_policy = \"never\"\n"
	    "check_for_update_on_startup = false\n"
	    "[analytics]\nenabled = false\n"
	    "[model_providers.soul]\n"
	    "name = \"soul\"\n"
	    "base_url = \"%URL%\"\n"
	    "env_key = \"CODEX_API_KEY\"\n"
	    "wire_api = \"responses\"\n" },
};

#define GEMINI_OPTIONS                                                         \
	"--skip-trust", "--approval-mode=yolo", "--output-format=stream-json", \
	    "?m--model=%MODEL%"
static const char *const gemini_start[] = { GEMINI_OPTIONS, "--prompt=%PROMPT%",
	NULL };
static const char *const gemini_resume[] = { GEMINI_OPTIONS,
	"--resume=%HANDLE%", "--prompt=%PROMPT%", NULL };
static const char *const gemini_env[] = { ENGINE_ENV, "GEMINI_API_KEY=%KEY%",
	"GOOGLE_GEMINI_BASE_URL=%URL%", "GEMINI_TELEMETRY_ENABLED=false",
	NULL };
static const struct engine_file gemini_files[] = {
	{ ".gemini/settings.json",
	    "{\"security\": {\"auth\": {\"selectedType\": "
	    "\"gemini-api-key\"}}, "
	    "\"general\": {\"disableAutoUpdate\": true, "
	    "\"enableAutoUpdate\": false, \"maxAttempts\": 3}, "
	    "\"privacy\": {\"usageStatisticsEnabled\": false}}\n" },
};

#define OPENCODE_OPTIONS "run", "--format=json", "?m--model=soul/%MODEL%"
static const char *const opencode_start[] = { OPENCODE_OPTIONS, "--",
	"%PROMPT%", NULL };
static const char *const opencode_resume[] = { OPENCODE_OPTIONS,
	"--session=%HANDLE%", "--", "%PROMPT%", NULL };
static const char *const opencode_env[] = { ENGINE_ENV, "SOUL_MODEL_KEY=%KEY%",
	"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
	"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	NULL };
static const struct engine_file opencode_files[] = {
	{ ".config/opencode/opencode.json",
	    "{\"autoupdate\": false, \"share\": \"disabled\", "
	    "\"permission\": \"allow\", "
	    "\"provider\": {\"soul\": {\"npm\": "
	    "\"@ai-sdk/openai-compatible\", \"options\": {\"baseURL\": "
	    "\"%URL%\", \"apiKey\": \"%KEY%\"}, \"models\": {\"%MODEL%\": "
	    "{}}}}}\n" },
};

#define IFLOW_OPTIONS "--yolo", "?m--model=%MODEL%"
static const char *const iflow_start[] = { IFLOW_OPTIONS, "--prompt=%PROMPT%",
	NULL };
static const char *const iflow_resume[] = { "--resume=%HANDLE%", IFLOW_OPTIONS,
	"--prompt=%PROMPT%", NULL };
static const char *const iflow_env[] = { ENGINE_ENV, "IFLOW_API_KEY=%KEY%",
	"IFLOW_BASE_URL=%URL%", NULL };

static const struct engine engine_table[] = {
	{ STR_INIT("codex"), &codex_adapter, ENGINE_PROMPT_STDIN, false,
	    codex_start, codex_resume, codex_env, codex_files,
	    NELEM(codex_files), "--version", true },
	{ STR_INIT("gemini"), &gemini_adapter, ENGINE_PROMPT_ARG, false,
	    gemini_start, gemini_resume, gemini_env, gemini_files,
	    NELEM(gemini_files), "--version", false },
	{ STR_INIT("opencode"), &opencode_adapter, ENGINE_PROMPT_ARG, false,
	    opencode_start, opencode_resume, opencode_env, opencode_files,
	    NELEM(opencode_files), "--version", false },
	{ STR_INIT("iflow"), &iflow_adapter, ENGINE_PROMPT_ARG, true,
	    iflow_start, iflow_resume, iflow_env, NULL, 0, "--version", false },
};

const struct engine *
engine_find(struct str name)
{
	for (size_t i = 0; i < NELEM(engine_table); i++) {
		if (str_eq(name, engine_table[i].name))
			return &engine_table[i];
	}
	return NULL;
}

const struct engine *
engine_at(size_t i)
{
	return i < NELEM(engine_table) ? &engine_table[i] : NULL;
}

/* ---- texts ---- */

/* A handle is an argument: it is none that could be an option or a path. */
static bool
engine_handle_valid(struct str handle)
{
	if (handle.n == 0 || handle.n > HANDLE_MAX || handle.p[0] == '-')
		return false;
	for (size_t i = 0; i < handle.n; i++) {
		char c = handle.p[i];

		if (!isalnum((unsigned char)c) && c != '_' && c != '-')
			return false;
	}
	return true;
}

static struct str
engine_value(const struct engine_start *s, struct str name)
{
	const struct {
		struct str name, value;
	} values[] = {
		{ STR("PROMPT"), s->prompt },
		{ STR("HANDLE"), s->handle },
		{ STR("MODEL"), s->model },
		{ STR("URL"), s->url },
		{ STR("KEY"), s->key },
		{ STR("HOME"), str_of(s->home) },
		{ STR("WORK"), str_of(s->work) },
		{ STR("TMP"), str_of(s->tmp != NULL ? s->tmp : s->home) },
	};

	for (size_t i = 0; i < NELEM(values); i++) {
		if (str_eq(name, values[i].name))
			return values[i].value;
	}
	return (struct str){ NULL, 0 };
}

/* The text with its %NAME%; they are not replaced in what replaces them. */
static enum rc
engine_text(const char *from, const struct engine_start *s, struct arena *a,
    const char **to)
{
	struct buf b = BUF_INIT(TEXT_MAX - 1);
	struct str rest = str_of(from);
	struct str copy;
	enum rc rc;

	while (rest.p != NULL) {
		buf_put_str(&b, str_split(&rest, '%'));
		if (rest.p != NULL)
			buf_put_str(&b, engine_value(s, str_split(&rest, '%')));
	}
	rc = buf_rc(&b);
	if (rc == RC_OK && b.n > 0 && memchr(b.p, '\0', b.n) != NULL)
		rc = RC_INVALID;
	copy = arena_str(a, buf_str(&b));
	buf_free(&b);
	if (rc == RC_OK && copy.p == NULL)
		rc = RC_TOOBIG;
	*to = copy.p;
	return rc;
}

/* Whether an argument is left out; else it is advanced behind its condition. */
static bool
engine_left_out(const char **arg, const struct engine_start *s)
{
	if ((*arg)[0] != '?')
		return false;
	switch ((*arg)[1]) {
	case 'm':
		*arg += 2;
		return s->model.n == 0;
	case 's':
		*arg += 2;
		return !s->own_sandbox;
	default:
		*arg += 2;
		return s->own_sandbox;
	}
}

static enum rc
engine_texts(const char *const *from, const struct engine_start *s,
    struct arena *a, const char **to, size_t max)
{
	size_t n = 0;
	enum rc rc = RC_OK;

	for (; rc == RC_OK && *from != NULL; from++) {
		const char *one = *from;

		if (engine_left_out(&one, s))
			continue;
		if (n == max)
			return RC_TOOBIG;
		rc = engine_text(one, s, a, &to[n++]);
	}
	to[n] = NULL;
	return rc;
}

enum rc
engine_command(const struct engine *e, const struct engine_start *s,
    struct arena *a, struct engine_command *out)
{
	bool resume = s->handle.p != NULL;
	enum rc rc;

	*out = (struct engine_command){ 0 };
	if (resume && !engine_handle_valid(s->handle))
		return RC_INVALID;
	if (e->prompt == ENGINE_PROMPT_ARG &&
	    s->prompt.n > ENGINE_ARG_PROMPT_MAX)
		return RC_TOOBIG;
	out->argv[0] = s->command;
	rc = engine_texts(resume ? e->resume : e->start, s, a, out->argv + 1,
	    ENGINE_ARGS_MAX - 1);
	if (rc == RC_OK)
		rc = engine_texts(e->env, s, a, out->env, ENGINE_ENV_MAX);
	return rc;
}

struct str
engine_file_text(
    const struct engine_file *f, const struct engine_start *s, struct arena *a)
{
	const char *text;

	if (engine_text(f->content, s, a, &text) != RC_OK)
		return (struct str){ NULL, 0 };
	return str_of(text);
}
