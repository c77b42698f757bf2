/*
 * providers: the options of a provider, from a file or from variables.
 */
#include "llm/providers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/url.h"
#include "llm/llm_internal.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/wire.h"

#define URL_MAX  2048
#define KEY_MAX  16384
#define NAME_LEN 64

#define VERSION_HEADER "anthropic-version: 2023-06-01"

const struct dialect *
provider_dialect(const struct provider *p)
{
	return p->o.kind == LLM_ANTHROPIC ? &anthropic_dialect
					  : &openai_dialect;
}

static bool
provider_is_http(const char *url)
{
	return url != NULL &&
	    (str_starts(str_of(url), STR("http://")) ||
		str_starts(str_of(url), STR("https://")));
}

/* It is used as a label of metrics. */
static bool
provider_is_name(const char *s)
{
	return s[0] != '\0' && strlen(s) <= NAME_LEN &&
	    strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-") == strlen(s);
}

static char *
provider_join_url(const char *base, const char *path)
{
	struct str s = str_of(base);
	struct buf b = BUF_INIT(URL_MAX);
	char *url = NULL;

	if (s.n > 0 && s.p[s.n - 1] == '/')
		s.n--;
	buf_put_str(&b, s);
	buf_puts(&b, path);
	if (buf_rc(&b) == RC_OK)
		url = str_dup(buf_str(&b));
	buf_free(&b);
	return url;
}

static char *
provider_join(const char *a, const char *b)
{
	struct buf s = BUF_INIT(KEY_MAX);

	buf_puts(&s, a);
	buf_puts(&s, b);
	char *out = str_dup(buf_str(&s));
	buf_free(&s);
	return out;
}

static enum rc
provider_read_body(struct provider *p)
{
	static const char *const ours[] = { "model", "messages", "tools",
		"stream", "system" };

	if (p->o.body.p == NULL)
		return RC_OK;
	enum rc rc = wire_tree_parse(p->o.body, &p->body);
	if (rc != RC_OK)
		return rc;
	if (wire_tree_kind(p->body) != WIRE_TREE_OBJECT)
		return RC_INVALID;
	for (size_t i = 0; i < NELEM(ours); i++)
		if (provider_has(p, ours[i]))
			return RC_INVALID;
	return RC_OK;
}

static void
provider_make_metrics(struct provider *p, struct metric_set *set)
{
	char labels[NAME_LEN + 16];

	snprintf(labels, sizeof(labels), "provider=\"%s\"", p->o.name);
	p->attempts = metric_counter(set, "soul_llm_attempts_total",
	    "Requests to a provider of language models.", labels);
	p->failures = metric_counter(set, "soul_llm_failures_total",
	    "Failed requests to a provider.", labels);
	p->retries = metric_counter(set, "soul_llm_retries_total",
	    "Retries after a failed request.", labels);
	p->fallbacks = metric_counter(set, "soul_llm_fallbacks_total",
	    "Calls that moved on to the next provider.", labels);
	p->open = metric_gauge(set, "soul_llm_breaker_open",
	    "1 while the provider is suspended after failures.", labels);
}

static void
provider_copy_texts(struct provider *p, const struct llm_provider *o)
{
	p->o = *o;
	p->o.name = p->name = mem_strdup(o->name != NULL ? o->name : "llm");
	p->o.base_url = NULL;
	p->o.api_key = NULL;
	p->o.model = p->model = mem_strdup(o->model != NULL ? o->model : "");
	p->o.max_tokens_member = p->member = mem_strdup(
	    o->max_tokens_member != NULL && o->max_tokens_member[0] != '\0'
		? o->max_tokens_member
		: "max_tokens");
}

static void
provider_set_headers(struct provider *p, const struct llm_provider *o)
{
	bool anthropic = o->kind == LLM_ANTHROPIC;

	p->nheaders = 1;
	if (o->api_key != NULL && o->api_key[0] != '\0') {
		p->key_header = provider_join(
		    anthropic ? "x-api-key: " : "Authorization: Bearer ",
		    o->api_key);
		p->headers[p->nheaders++] = p->key_header;
	}
	if (anthropic)
		p->headers[p->nheaders++] = VERSION_HEADER;
}

/* Keys may be in the user part, or in the query. */
static char *
provider_shown_url(const char *url)
{
	struct str rest = str_of(url), plain = str_split(&rest, '?');
	struct buf b = BUF_INIT(URL_MAX);

	rest = plain;
	plain = str_split(&rest, '#');
	url_redact(plain, &b);
	char *out = str_dup(buf_str(&b));
	buf_free(&b);
	return out;
}

enum rc
provider_init(struct provider *p, const struct llm_provider *o,
    struct metric_set *metrics)
{
	*p = (struct provider){ .last_rc = RC_DOWN,
		.last_reason = LLM_REASON_UNREACHABLE,
		.state = PROVIDER_UNTRIED };
	provider_copy_texts(p, o);
	if (!provider_is_http(o->base_url) || p->o.model[0] == '\0' ||
	    !provider_is_name(p->o.name))
		return RC_INVALID;
	p->url = provider_join_url(o->base_url, provider_dialect(p)->path);
	if (p->url == NULL)
		return RC_INVALID;
	p->shown = provider_shown_url(p->url);
	struct buf by = BUF_INIT(KEY_MAX);
	buf_printf(&by, "%s/%s", p->o.name, p->o.model);
	p->by = str_dup(buf_str(&by));
	buf_free(&by);
	provider_set_headers(p, o);
	provider_make_metrics(p, metrics);
	return provider_read_body(p);
}

void
provider_free(struct provider *p)
{
	free(p->name);
	free(p->model);
	free(p->member);
	free(p->url);
	free(p->shown);
	free(p->by);
	free(p->key_header);
	wire_tree_free(p->body);
}

bool
provider_has(const struct provider *p, const char *key)
{
	return wire_tree_get(p->body, str_of(key)) != NULL;
}

void
provider_put_body(const struct provider *p, struct wire_out *o)
{
	struct wire_tree_member m;

	for (bool more = wire_tree_first(p->body, &m); more;
	     more = wire_tree_next(p->body, &m)) {
		if (wire_tree_kind(m.value) == WIRE_TREE_NULL)
			continue;
		wire_out_key(o, m.key);
		wire_tree_put(m.value, o);
	}
}

#define OPENAI_MODEL    "gpt-4o-mini"
#define ANTHROPIC_MODEL "claude-haiku-4-5"

#define ITEM           wire_llm_providers_providers
#define KIND_ANTHROPIC WIRE_LLM_PROVIDERS_PROVIDERS_KIND_ANTHROPIC

static enum llm_echo
providers_echo(const struct wire_llm_providers_providers *w)
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

/* The key, or the value of its variable; NULL: that is not set. */
static const char *
providers_key(const struct wire_llm_providers_providers *w, struct arena *a)
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

/* What is wrong with the i-th that the schema does not cover; or NULL. */
static const char *
providers_check(const struct llm_provider *list, size_t i)
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
			return "name: must be unique";
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
			.api_key = providers_key(w, a),
			.api_key_env =
			    w->api_key_env.p != NULL ? w->api_key_env.p : "",
			.model = w->model.p,
			.cumulative = w->cumulative,
			.strip_think = w->strip_think,
			.vision = w->vision,
			.echo = providers_echo(w),
			.max_tokens = w->has_max_tokens ? w->max_tokens : 0,
			.max_tokens_member = w->max_tokens_member.p,
			.body = w->body,
			.first_byte_ms =
			    w->has_first_byte_ms ? w->first_byte_ms : 0 };
		const char *problem = providers_check(list, i);
		if (problem != NULL) {
			snprintf(why, LLM_PROVIDERS_WHY_MAX,
			    "/providers/%zu: %s", i, problem);
			return RC_INVALID;
		}
	}
	out->providers = list;
	out->nproviders = file.n_providers;
	return list != NULL ? RC_OK : RC_TOOBIG;
}

/* ---- opening a client ---- */

static enum rc
providers_read_file(const char *path, struct buf *out)
{
	char chunk[4096];
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return RC_NOENT;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_put(out, chunk, (size_t)n);
	close(fd);
	return n < 0 ? RC_NOENT : buf_rc(out);
}

/* Read the file's providers into *o; why is set on failure. */
static enum rc
providers_load(const char *path, struct arena *a, struct llm_opts *o,
    char why[LLM_PROVIDERS_WHY_MAX])
{
	struct buf json = BUF_INIT(LLM_PROVIDERS_FILE_MAX);
	enum rc rc = providers_read_file(path, &json);

	snprintf(why, LLM_PROVIDERS_WHY_MAX, "cannot be read, or is too large");
	if (rc == RC_OK)
		rc = llm_providers_read(buf_str(&json), a, o, why);
	buf_free(&json);
	return rc;
}

/* All of the file's providers, or only the one at *only. */
static enum rc
providers_open_file(
    const char *path, struct llm_opts *o, const size_t *only, struct llm **out)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	char why[LLM_PROVIDERS_WHY_MAX];
	enum rc rc = providers_load(path, a, o, why);
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
	/* RC_NOENT means the end of the list, not a missing file. */
	return rc == RC_NOENT && !behind ? RC_INVALID : rc;
}

static const char *
providers_or(const char *s, const char *otherwise)
{
	return s[0] != '\0' ? s : otherwise;
}

/* The provider of the variables; false: invalid. */
static bool
providers_from_conf(const struct llm_conf *c, struct llm_provider *one)
{
	*one = (struct llm_provider){ .name = c->provider };
	if (strcmp(c->provider, "openai") == 0) {
		one->base_url = c->openai_url;
		one->api_key = c->openai_key;
		one->model = providers_or(c->model, OPENAI_MODEL);
	} else if (strcmp(c->provider, "claude") == 0) {
		one->kind = LLM_ANTHROPIC;
		one->base_url = c->anthropic_url;
		one->api_key = c->anthropic_key;
		one->model = providers_or(c->model, ANTHROPIC_MODEL);
	} else {
		return false;
	}
	return true;
}

static const char *
providers_url_variable(const struct llm_provider *one)
{
	return one->kind == LLM_ANTHROPIC ? "ANTHROPIC_BASE_URL"
					  : "OPENAI_BASE_URL";
}

static void
providers_check_file(const char *path, struct buf *errors, struct buf *known)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	char why[LLM_PROVIDERS_WHY_MAX];
	struct llm_opts o = { 0 };

	if (providers_load(path, a, &o, why) != RC_OK)
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
		providers_check_file(c->file, errors, known);
		return;
	}
	if (!providers_from_conf(c, &one)) {
		buf_puts(errors, "LLM_PROVIDER: it must be openai or claude\n");
		return;
	}
	if (provider_init(&tried, &one, NULL) != RC_OK)
		buf_printf(errors, "%s: it must be an http or https URL\n",
		    providers_url_variable(&one));
	provider_free(&tried);
}

static enum rc
providers_open(const struct llm_conf *c, const struct llm_opts *o,
    const size_t *only, struct llm **out)
{
	struct llm_opts mine = *o;
	struct llm_provider one;
	enum rc rc = RC_INVALID;

	if (c->file[0] != '\0')
		return providers_open_file(c->file, &mine, only, out);
	if (only != NULL && *only > 0)
		return RC_NOENT;
	if (!providers_from_conf(c, &one)) {
		log_error("conf.invalid", LOG_S("variable", "LLM_PROVIDER"),
		    LOG_S("must_be", "openai or claude"));
		return rc;
	}
	mine.providers = &one;
	mine.nproviders = 1;
	rc = llm_new(&mine, out);
	if (rc != RC_OK)
		log_error("conf.invalid",
		    LOG_S("variable", providers_url_variable(&one)),
		    LOG_S("must_be", "an http or https URL"));
	return rc;
}

enum rc
llm_open(const struct llm_conf *c, const struct llm_opts *o, struct llm **out)
{
	return providers_open(c, o, NULL, out);
}

enum rc
llm_open_one(const struct llm_conf *c, const struct llm_opts *o, size_t i,
    struct llm **out)
{
	return providers_open(c, o, &i, out);
}
