#include "client_identity.h"

#include <string.h>

#include "core/mem.h"
#include "http/target.h"

const struct str client_class_names[CLASS_N] = {
	[CLASS_AGENT] = STR_INIT("agent"),
	[CLASS_ENVIRONMENT] = STR_INIT("environment"),
	[CLASS_HUMAN] = STR_INIT("human"),
	[CLASS_HUB] = STR_INIT("hub"),
};

enum client_class
client_class_parse(struct str s)
{
	int c;

	for (c = 0; c < CLASS_N; c++)
		if (str_eq(s, client_class_names[c]))
			break;
	return (enum client_class)c;
}

/* ---- rules of ids ---- */

static bool
id_is_reserved(struct str id)
{
	static const struct str names[] = { STR_INIT("all"),
		STR_INIT("broadcast"), STR_INIT("hub"), STR_INIT("server") };
	size_t i;

	for (i = 0; i < NELEM(names); i++)
		if (str_eq(id, names[i]))
			return true;
	return str_ends(id, STR("_all"));
}

const char *
identity_id_error(struct str id)
{
	ptrdiff_t n = str_utf8_count(id);
	size_t pos = 0;
	int32_t c;

	if (n < STAR_ID_MIN || n > STAR_ID_MAX)
		return "an id must have 3 to 50 characters";
	while ((c = str_utf8_next(id, &pos)) >= 0) {
		if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			return "an id must not have control characters";
		if (c == '/' || c == '?' || c == '#' || c == '*')
			return "an id must not have / ? # *";
	}
	if (id_is_reserved(id))
		return "an id must not be all, broadcast, hub or server, nor "
		       "end in _all";
	return NULL;
}

/* ---- paths ---- */

static int
identity_checked(const struct identity *i, const char **why)
{
	*why = identity_id_error(i->id);
	if (*why == NULL && i->class == CLASS_AGENT)
		*why = identity_id_error(i->env);
	return *why == NULL ? 0 : 400;
}

int
identity_of_target(
    char *target, size_t n, struct identity *out, const char **why)
{
	struct str query = { target, n }, path = str_split(&query, '?');
	const struct str *s;
	struct uri u;

	*why = "there is no such path: use /env/{env_id}, "
	       "/env/{env_id}/agent/{agent_id} or /human/{human_id}";
	switch (uri_split_path(&u, target, path.n)) {
	case RC_OK:
		break;
	case RC_INVALID:
		*why = "the path is not percent-encoded UTF-8";
		return 400;
	default:
		return 404;
	}
	s = u.segments;
	if (u.nsegments == 2 && str_eq(s[0], STR("env")))
		*out = (struct identity){
			.class = CLASS_ENVIRONMENT, .env = s[1], .id = s[1]
		};
	else if (u.nsegments == 4 && str_eq(s[0], STR("env")) &&
	    str_eq(s[2], STR("agent")))
		*out = (struct identity){
			.class = CLASS_AGENT, .env = s[1], .id = s[3]
		};
	else if (u.nsegments == 2 && str_eq(s[0], STR("human")))
		*out = (struct identity){ .class = CLASS_HUMAN, .id = s[1] };
	else
		return 404;
	return identity_checked(out, why);
}

/* ---- keys ---- */

bool
identity_equal(const struct identity *a, const struct identity *b)
{
	return a->class == b->class && str_eq(a->id, b->id) &&
	    str_eq(a->tenant, b->tenant) &&
	    (a->class != CLASS_AGENT || str_eq(a->env, b->env));
}

static char *
key_put(char *p, struct str s)
{
	memcpy(p, s.n > 0 ? s.p : "", s.n);
	return p + s.n;
}

struct str
identity_key(const struct identity *i, char dst[IDENTITY_KEY_MAX])
{
	struct str env =
	    i->class == CLASS_AGENT ? i->env : (struct str){ NULL, 0 };
	char *p = dst;

	if (i->tenant.n > 64 || env.n > STAR_ID_BYTES ||
	    i->id.n > STAR_ID_BYTES)
		return (struct str){ NULL, 0 };
	/* No part has a slash. */
	p = key_put(p, i->tenant);
	*p++ = '/';
	*p++ = client_class_names[i->class].p[0];
	*p++ = '/';
	p = key_put(p, env);
	*p++ = '/';
	p = key_put(p, i->id);
	return (struct str){ dst, (size_t)(p - dst) };
}

struct str
identity_env_key(struct str tenant, struct str env, char dst[IDENTITY_KEY_MAX])
{
	const struct identity i = { .class = CLASS_ENVIRONMENT,
		.tenant = tenant,
		.env = env,
		.id = env };

	return identity_key(&i, dst);
}

enum rc
identity_parse(struct str key, struct identity *out)
{
	struct str class;
	int c;

	*out = (struct identity){ .class = CLASS_N };
	out->tenant = str_split(&key, '/');
	class = str_split(&key, '/');
	out->env = str_split(&key, '/');
	out->id = key;
	for (c = 0; c < CLASS_HUB; c++)
		if (class.n == 1 && class.p[0] == client_class_names[c].p[0])
			out->class = (enum client_class)c;
	if (out->class == CLASS_N || out->id.p == NULL ||
	    str_find(out->id, STR("/")) >= 0 ||
	    (out->class == CLASS_AGENT) != (out->env.n > 0) ||
	    out->tenant.n > 64 || out->env.n > STAR_ID_BYTES ||
	    out->id.n > STAR_ID_BYTES || identity_id_error(out->id) != NULL)
		return RC_INVALID;
	if (out->class == CLASS_ENVIRONMENT)
		out->env = out->id;
	else if (out->class == CLASS_HUMAN)
		out->env = (struct str){ NULL, 0 };
	return RC_OK;
}
