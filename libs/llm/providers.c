/*
 * A file, or the variables of one provider.
 */
#include "llm/providers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "llm/provider.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define OPENAI_MODEL    "gpt-4o-mini"
#define ANTHROPIC_MODEL "claude-haiku-4-5"

#define ITEM           wire_llm_providers_providers
#define KIND_ANTHROPIC WIRE_LLM_PROVIDERS_PROVIDERS_KIND_ANTHROPIC

static enum llm_echo
echo_of(const struct wire_llm_providers_providers *w)
{
	static const enum llm_echo echos[] = {
		[WIRE_LLM_PROVIDERS_PROVIDERS_ECHO_REASONING_AUTO] =
		    LLM_ECHO_OWN,
		[WIRE_LLM_PROVIDERS_PROVIDERS_ECHO_REASONING_WITH_TOOL_CALLS] =
		    LLM_ECHO_WITH_TOOL_CALLS,
		[WIRE_LLM_PROVIDERS_PROVIDERS_ECHO_REASONING_ALWAYS] =
		    LLM_ECHO_ALWAYS,
		[WIRE_LLM_PROVIDERS_PROVIDERS_ECHO_REASONING_NEVER] =
		    LLM_ECHO_NEVER,
	};

	return echos[w->echo_reasoning];
}

/* The key itself, or the variable's; NULL: that is not set. */
static const char *
key_of(const struct wire_llm_providers_providers *w, struct arena *a)
{
	struct key {
		const char *value;
	} key;
	const struct conf_opt opt = { w->api_key_env.p, CONF_SECRET,
		CONF_AT(key, value), "", 0, 0, "" };
	struct buf errors = BUF_INIT(1024);
	const char *s = NULL;

	if (w->api_key_env.n == 0)
		return w->api_key.p != NULL ? w->api_key.p : "";
	if (conf_load(&opt, 1, &key, &errors) == RC_OK && key.value[0] != '\0')
		s = arena_str(a, str_of(key.value)).p;
	conf_free(&opt, 1, &key);
	buf_free(&errors);
	return s;
}

/* What is wrong with the i-th, beyond what the schema says. */
static const char *
fault_of(const struct llm_provider *list, size_t i)
{
	struct provider tried;
	enum rc rc;

	if (list[i].api_key == NULL)
		return "api_key_env: the variable is not set";
	rc = provider_init(&tried, &list[i], NULL);
	provider_free(&tried);
	if (rc != RC_OK)
		return "base_url must be an http or https URL, and body must "
		       "not have model, messages, system, tools or stream";
	for (size_t k = 0; k < i; k++)
		if (strcmp(list[k].name, list[i].name) == 0)
			return "name: another has it";
	return NULL;
}

enum rc
llm_providers_read(struct str json, struct arena *a, struct llm_opts *out,
    char why[LLM_PROVIDERS_WHY_MAX])
{
	struct wire_llm_providers file;
	struct wire_err err;
	enum rc rc =
	    wire_decode(&wire_llm_providers_desc, json, a, &file, &err);

	if (rc != RC_OK) {
		wire_err_text(&err, why, LLM_PROVIDERS_WHY_MAX);
		return rc;
	}
	struct llm_provider *list =
	    arena_alloc(a, file.n_providers * sizeof(*list));
	for (size_t i = 0; list != NULL && i < file.n_providers; i++) {
		const struct ITEM *w = &file.providers[i];
		list[i] = (struct llm_provider){ .name = w->name.p,
			.kind = w->kind == KIND_ANTHROPIC ? LLM_ANTHROPIC
							  : LLM_OPENAI,
			.base_url = w->base_url.p,
			.api_key = key_of(w, a),
			.api_key_env =
			    w->api_key_env.p != NULL ? w->api_key_env.p : "",
			.model = w->model.p,
			.cumulative = w->cumulative,
			.strip_think = w->strip_think,
			.echo = echo_of(w),
			.max_tokens = w->has_max_tokens ? w->max_tokens : 0,
			.max_tokens_member = w->max_tokens_member.p,
			.body = w->body,
			.first_byte_ms =
			    w->has_first_byte_ms ? w->first_byte_ms : 0 };
		const char *fault = fault_of(list, i);
		if (fault != NULL) {
			snprintf(why, LLM_PROVIDERS_WHY_MAX,
			    "/providers/%zu: %s", i, fault);
			return RC_INVALID;
		}
	}
	out->providers = list;
	out->nproviders = file.n_providers;
	return list != NULL ? RC_OK : RC_TOOBIG;
}

/* ---- at start ----------------------------------------------------------- */

static enum rc
read_file(const char *path, struct buf *out)
{
	char piece[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return RC_NOENT;
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		buf_put(out, piece, (size_t)n);
	close(fd);
	return n < 0 ? RC_NOENT : buf_rc(out);
}

/* The file's providers into *o, in a; why is set if that fails. */
static enum rc
load_file(const char *path, struct arena *a, struct llm_opts *o,
    char why[LLM_PROVIDERS_WHY_MAX])
{
	struct buf json = BUF_INIT(LLM_PROVIDERS_FILE_MAX);
	enum rc rc = read_file(path, &json);

	snprintf(why, LLM_PROVIDERS_WHY_MAX, "cannot be read, or is too large");
	if (rc == RC_OK)
		rc = llm_providers_read(buf_str(&json), a, o, why);
	buf_free(&json);
	return rc;
}

/* All of the file's, or the one at only. */
static enum rc
open_file(
    const char *path, struct llm_opts *o, const size_t *only, struct llm **out)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	char why[LLM_PROVIDERS_WHY_MAX];
	enum rc rc = load_file(path, a, o, why);
	bool behind = rc == RC_OK && only != NULL && *only >= o->nproviders;

	if (behind) {
		rc = RC_NOENT;
	} else if (rc == RC_OK && only != NULL) {
		o->providers += *only;
		o->nproviders = 1;
	}
	if (rc == RC_OK)
		rc = llm_new(o, out);
	if (rc != RC_OK && !behind)
		log_error("conf.invalid", LOG_S("variable", "LLM_PROVIDERS"),
		    LOG_S("file", path), LOG_S("why", why));
	arena_free(a);
	/* That the file is not there is no end of a list. */
	return rc == RC_NOENT && !behind ? RC_INVALID : rc;
}

static const char *
or_else(const char *s, const char *otherwise)
{
	return s[0] != '\0' ? s : otherwise;
}

/* The one provider that the variables name; false: they name none. */
static bool
one_of(const struct llm_conf *c, struct llm_provider *one)
{
	*one = (struct llm_provider){ .name = c->provider };
	if (strcmp(c->provider, "openai") == 0) {
		one->base_url = c->openai_url;
		one->api_key = c->openai_key;
		one->model = or_else(c->model, OPENAI_MODEL);
	} else if (strcmp(c->provider, "claude") == 0) {
		one->kind = LLM_ANTHROPIC;
		one->base_url = c->anthropic_url;
		one->api_key = c->anthropic_key;
		one->model = or_else(c->model, ANTHROPIC_MODEL);
	} else {
		return false;
	}
	return true;
}

static const char *
url_variable(const struct llm_provider *one)
{
	return one->kind == LLM_ANTHROPIC ? "ANTHROPIC_BASE_URL"
					  : "OPENAI_BASE_URL";
}

static void
check_file(const char *path, struct buf *errors, struct buf *known)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	char why[LLM_PROVIDERS_WHY_MAX];
	struct llm_opts o = { 0 };

	if (load_file(path, a, &o, why) != RC_OK)
		buf_printf(errors,
		    "LLM_PROVIDERS: cannot use \"%s\": %s; it must be a "
		    "readable file as llm_providers.schema.json has it\n",
		    path, why);
	for (size_t i = 0; i < o.nproviders; i++)
		buf_printf(known, "%s\n", o.providers[i].api_key_env);
	arena_free(a);
}

void
llm_conf_check(const struct llm_conf *c, struct buf *errors, struct buf *known)
{
	struct llm_provider one;
	struct provider tried;

	if (c->file[0] != '\0') {
		check_file(c->file, errors, known);
		return;
	}
	if (!one_of(c, &one)) {
		buf_puts(errors, "LLM_PROVIDER: it must be openai or claude\n");
		return;
	}
	if (provider_init(&tried, &one, NULL) != RC_OK)
		buf_printf(errors, "%s: it must be an http or https URL\n",
		    url_variable(&one));
	provider_free(&tried);
}

static enum rc
open_some(const struct llm_conf *c, const struct llm_opts *o,
    const size_t *only, struct llm **out)
{
	struct llm_opts mine = *o;
	struct llm_provider one;
	enum rc rc = RC_INVALID;

	if (c->file[0] != '\0')
		return open_file(c->file, &mine, only, out);
	if (only != NULL && *only > 0)
		return RC_NOENT;
	if (!one_of(c, &one)) {
		log_error("conf.invalid", LOG_S("variable", "LLM_PROVIDER"),
		    LOG_S("must_be", "openai or claude"));
		return rc;
	}
	mine.providers = &one;
	mine.nproviders = 1;
	rc = llm_new(&mine, out);
	if (rc != RC_OK)
		log_error("conf.invalid", LOG_S("variable", url_variable(&one)),
		    LOG_S("must_be", "an http or https URL"));
	return rc;
}

enum rc
llm_open(const struct llm_conf *c, const struct llm_opts *o, struct llm **out)
{
	return open_some(c, o, NULL, out);
}

enum rc
llm_open_one(const struct llm_conf *c, const struct llm_opts *o, size_t i,
    struct llm **out)
{
	return open_some(c, o, &i, out);
}
