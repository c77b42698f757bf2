#include "payload.h"

#include "core/mem.h"
#include "envelope.h"
#include "wire/slice.h"

static void
payload_on_member(void *arg, const struct wire_slice *s)
{
	struct payload *p = arg;
	const struct {
		struct str key;
		struct str *value;
	} rows[] = {
		{ STR("type"), &p->type },
		{ STR("stream"), &p->stream },
		{ STR("stream_type"), &p->stream_type },
		{ STR("action"), &p->action },
		{ STR("id"), &p->id },
		{ STR("data"), &p->data },
		{ STR("token"), &p->token },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (str_eq(s->key, rows[i].key))
			*rows[i].value = s->value;
}

enum rc
payload_read(struct str json, struct payload *out)
{
	*out = (struct payload){ 0 };
	if (json.n == 0 || json.p[0] != '{')
		return RC_INVALID;
	return envelope_members(json, payload_on_member, out);
}

struct member_search {
	struct str key, value;
};

static void
search_on_member(void *arg, const struct wire_slice *s)
{
	struct member_search *m = arg;

	if (str_eq(s->key, m->key))
		m->value = s->value;
}

struct str
payload_member(struct str json, struct str key)
{
	struct member_search m = { .key = key };

	if (json.n == 0 || json.p[0] != '{' ||
	    envelope_members(json, search_on_member, &m) != RC_OK)
		return (struct str){ NULL, 0 };
	return m.value;
}

struct str
payload_text(struct str json, struct arena *a)
{
	struct str s = { NULL, 0 };

	if (json.p == NULL || envelope_string(json, a, &s) != RC_OK)
		return (struct str){ NULL, 0 };
	return s;
}

struct str
payload_stream(const struct payload *p, struct arena *a)
{
	struct str name = payload_text(p->stream_type, a);

	/* Version 1 of the SDK has the name in either, or in both. */
	return name.p != NULL ? name : payload_text(p->stream, a);
}
