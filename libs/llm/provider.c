/*
 * Options checked and copied.
 */
#include "llm/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/url.h"
#include "wire/out.h"

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
is_http(const char *url)
{
	return url != NULL &&
	    (str_starts(str_of(url), STR("http://")) ||
		str_starts(str_of(url), STR("https://")));
}

/* As it stands in a metric's label. */
static bool
is_name(const char *s)
{
	return s[0] != '\0' && strlen(s) <= NAME_LEN &&
	    strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-") == strlen(s);
}

static char *
join_url(const char *base, const char *path)
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
joined(const char *a, const char *b)
{
	struct buf s = BUF_INIT(KEY_MAX);

	buf_puts(&s, a);
	buf_puts(&s, b);
	char *out = str_dup(buf_str(&s));
	buf_free(&s);
	return out;
}

static enum rc
read_body(struct provider *p)
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
make_metrics(struct provider *p, struct metric_set *set)
{
	char labels[NAME_LEN + 16];

	snprintf(labels, sizeof(labels), "provider=\"%s\"", p->o.name);
	p->attempts = metric_counter(set, "soul_llm_attempts_total",
	    "Requests to a provider of language models.", labels);
	p->failures = metric_counter(set, "soul_llm_failures_total",
	    "Those of them that failed.", labels);
	p->retries = metric_counter(set, "soul_llm_retries_total",
	    "Those of them that repeated one that failed.", labels);
	p->fallbacks = metric_counter(set, "soul_llm_fallbacks_total",
	    "Calls that left the provider for the next one.", labels);
	p->open = metric_gauge(set, "soul_llm_breaker_open",
	    "1 while the provider is left alone.", labels);
}

static void
copy_texts(struct provider *p, const struct llm_provider *o)
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
set_headers(struct provider *p, const struct llm_provider *o)
{
	bool anthropic = o->kind == LLM_ANTHROPIC;

	p->nheaders = 1;
	if (o->api_key != NULL && o->api_key[0] != '\0') {
		p->key_header =
		    joined(anthropic ? "x-api-key: " : "Authorization: Bearer ",
			o->api_key);
		p->headers[p->nheaders++] = p->key_header;
	}
	if (anthropic)
		p->headers[p->nheaders++] = VERSION_HEADER;
}

/* Keys may stand in the user's place, or in the query. */
static char *
shown_url(const char *url)
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
	copy_texts(p, o);
	if (!is_http(o->base_url) || p->o.model[0] == '\0' ||
	    !is_name(p->o.name))
		return RC_INVALID;
	p->url = join_url(o->base_url, provider_dialect(p)->path);
	if (p->url == NULL)
		return RC_INVALID;
	p->shown = shown_url(p->url);
	struct buf by = BUF_INIT(KEY_MAX);
	buf_printf(&by, "%s/%s", p->o.name, p->o.model);
	p->by = str_dup(buf_str(&by));
	buf_free(&by);
	set_headers(p, o);
	make_metrics(p, metrics);
	return read_body(p);
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
