/*
 * A client writes into X-Forwarded-For what it likes; only what our own proxies
 * have added behind that counts, so the list is read from its end.
 */
#include "httpd/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static enum rc
read_v4(struct str s, uint32_t *addr)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr in;

	if (s.n >= sizeof(text))
		return RC_INVALID;
	str_copy(s, text, sizeof(text));
	if (strlen(text) != s.n || inet_pton(AF_INET, text, &in) != 1)
		return RC_INVALID;
	*addr = ntohl(in.s_addr);
	return RC_OK;
}

static enum rc
read_v6(struct str s, struct in6_addr *in)
{
	char text[INET6_ADDRSTRLEN];

	if (s.n >= sizeof(text))
		return RC_INVALID;
	str_copy(s, text, sizeof(text));
	return strlen(text) == s.n && inet_pton(AF_INET6, text, in) == 1
	    ? RC_OK
	    : RC_INVALID;
}

static enum rc
set_v4(struct peer *p, uint32_t addr)
{
	struct in_addr in = { htonl(addr) };

	*p = (struct peer){ .v4 = true, .addr = addr, .nkey = sizeof(in) };
	memcpy(p->key, &in, sizeof(in));
	inet_ntop(AF_INET, &in, p->text, sizeof(p->text));
	return RC_OK;
}

static enum rc
set_v6(struct peer *p, const struct in6_addr *in)
{
	uint32_t addr;

	if (IN6_IS_ADDR_V4MAPPED(in)) {
		memcpy(&addr, in->s6_addr + 12, sizeof(addr));
		return set_v4(p, ntohl(addr));
	}
	*p = (struct peer){ .nkey = sizeof(p->key) };
	memcpy(p->key, in->s6_addr, sizeof(p->key));
	inet_ntop(AF_INET6, in, p->text, sizeof(p->text));
	return RC_OK;
}

/* Whether s is ":" and a port, or nothing. */
static bool
is_port(struct str s)
{
	int64_t port;

	if (s.n == 0)
		return true;
	return s.p[0] == ':' &&
	    str_to_i64((struct str){ s.p + 1, s.n - 1 }, 0, 65535, &port) ==
	    RC_OK;
}

enum rc
peer_read(struct str s, struct peer *p)
{
	struct in6_addr in;
	uint32_t addr;
	ptrdiff_t end;

	if (s.n > 0 && s.p[0] == '[') {
		end = str_find(s, STR("]"));
		if (end < 0)
			return RC_INVALID;
		size_t n = (size_t)end;
		if (!is_port((struct str){ s.p + n + 1, s.n - n - 1 }) ||
		    read_v6((struct str){ s.p + 1, n - 1 }, &in) != RC_OK)
			return RC_INVALID;
		return set_v6(p, &in);
	}
	if (read_v6(s, &in) == RC_OK)
		return set_v6(p, &in);
	end = str_find(s, STR(":"));
	size_t n = end < 0 ? s.n : (size_t)end;
	if (n < s.n && !is_port((struct str){ s.p + n, s.n - n }))
		return RC_INVALID;
	if (read_v4((struct str){ s.p, n }, &addr) != RC_OK)
		return RC_INVALID;
	return set_v4(p, addr);
}

static enum rc
read_net(struct str s, uint32_t *addr, uint32_t *mask)
{
	struct str bits = s;
	struct str name = str_split(&bits, '/');
	int64_t n = 32;

	if (read_v4(name, addr) != RC_OK)
		return RC_INVALID;
	if (bits.p != NULL && str_to_i64(bits, 0, 32, &n) != RC_OK)
		return RC_INVALID;
	*mask = n == 0 ? 0 : UINT32_MAX << (32 - n);
	return (*addr & ~*mask) == 0 ? RC_OK : RC_INVALID;
}

enum rc
peer_nets_read(struct str list, struct peer_nets *nets)
{
	nets->n = 0;
	if (str_trim(list).n == 0)
		return RC_OK;
	while (list.p != NULL) {
		struct str s = str_trim(str_split(&list, ','));
		size_t i = nets->n;

		if (i == PEER_NETS_MAX)
			return RC_TOOBIG;
		if (read_net(s, &nets->net[i].addr, &nets->net[i].mask) !=
		    RC_OK)
			return RC_INVALID;
		nets->n++;
	}
	return RC_OK;
}

bool
peer_nets_have(const struct peer_nets *nets, uint32_t addr)
{
	size_t i;

	for (i = 0; i < nets->n; i++)
		if ((addr & nets->net[i].mask) == nets->net[i].addr)
			return true;
	return false;
}

/* The part of *list behind its last comma; *list becomes what is before. */
static struct str
cut_last(struct str *list)
{
	size_t at = list->n;

	while (at > 0 && list->p[at - 1] != ',')
		at--;
	struct str last = { list->p + at, list->n - at };
	*list = at > 0 ? (struct str){ list->p, at - 1 } : (struct str){ 0 };
	return str_trim(last);
}

/* Go back one entry; false when p is the client. */
static bool
step_back(struct peer *p, struct str entry, const struct peer_nets *nets)
{
	struct peer before;

	if (peer_read(entry, &before) != RC_OK)
		return false;
	*p = before;
	return p->v4 && peer_nets_have(nets, p->addr);
}

enum rc
peer_find(struct peer *p, struct str direct, const struct peer_nets *nets,
    const struct head_field *fields, size_t n)
{
	enum rc rc = peer_read(direct, p);

	if (rc != RC_OK || !p->v4 || !peer_nets_have(nets, p->addr))
		return rc;
	while (n > 0) {
		const struct head_field *f = &fields[--n];

		if (!str_eq_nocase(f->name, STR("X-Forwarded-For")))
			continue;
		struct str list = f->value;
		while (list.p != NULL)
			if (!step_back(p, cut_last(&list), nets))
				return RC_OK;
	}
	return RC_OK;
}
