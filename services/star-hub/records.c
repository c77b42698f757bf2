#include "records.h"

#include <openssl/sha.h>
#include <string.h>

#include "core/id.h"

#define NOBODY STR("-")

/* text has n bytes; it is returned, or its hash, which no id of the protocol
 * can be. */
static struct str
record_name(char *text, size_t n)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];

	if (n <= ID_MAX)
		return (struct str){ text, n };
	SHA256((const unsigned char *)text, n, hash);
	text[0] = '#';
	id_hex(hash, 32, text + 1);
	return (struct str){ text, 65 };
}

static struct str
record_tenant(struct str tenant)
{
	return tenant.n > 0 ? tenant : NOBODY;
}

struct str
record_user(struct str user)
{
	return user.n > 0 ? user : NOBODY;
}

void
record_identity(const struct identity *i, struct record_identity *out)
{
	size_t n = 0;

	out->star.tenant = record_tenant(i->tenant);
	out->star.class = client_class_names[i->class];
	if (i->class == CLASS_AGENT) {
		memcpy(out->text, i->env.p, i->env.n);
		out->text[i->env.n] = '/';
		n = i->env.n + 1;
	}
	memcpy(out->text + n, i->id.p, i->id.n);
	out->star.name = record_name(out->text, n + i->id.n);
}

void
record_room(struct str tenant, struct str env, struct record_room *out)
{
	out->star.tenant = record_tenant(tenant);
	memcpy(out->text, env.p, env.n);
	out->star.name = record_name(out->text, env.n);
}

enum rc
record_identity_of(struct str key, struct record_identity *out)
{
	struct identity i;
	enum rc rc = identity_parse(key, &i);

	if (rc == RC_OK)
		record_identity(&i, out);
	return rc;
}

enum rc
record_room_of(struct str key, struct record_room *out)
{
	struct identity i;
	enum rc rc = identity_parse(key, &i);

	if (rc == RC_OK)
		record_room(i.tenant, i.env, out);
	return rc;
}

struct star_member
record_member(const struct identity *i, struct str hub, int64_t gen)
{
	return (struct star_member){ client_class_names[i->class], i->id,
		{ hub, gen } };
}

struct str
record_member_key(
    struct str room, const struct star_member *m, char dst[IDENTITY_KEY_MAX])
{
	struct identity env, i;

	i = (struct identity){ .class = client_class_parse(m->class),
		.id = m->name };
	if (identity_parse(room, &env) != RC_OK || i.class >= CLASS_HUB)
		return (struct str){ NULL, 0 };
	i.tenant = env.tenant;
	i.env = env.id;
	return identity_key(&i, dst);
}
