/*
 * A client can write anything into X-Forwarded-For; only entries that trusted
 * proxies have appended count, so the list is read from its end.
 */
#include "http/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "http/header.h"

static enum rc
addr_parse_v4(struct str s, uint32_t *addr)
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
addr_parse_v6(struct str s, struct in6_addr *in)
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
addr_set_v4(struct client_addr *p, uint32_t addr)
{
	struct in_addr in = { htonl(addr) };

	*p = (struct client_addr){
		.v4 = true, .addr = addr, .nkey = sizeof(in)
	};
	memcpy(p->key, &in, sizeof(in));
	inet_ntop(AF_INET, &in, p->text, sizeof(p->text));
	return RC_OK;
}

static enum rc
addr_set_v6(struct client_addr *p, const struct in6_addr *in)
{
	uint32_t addr;

	if (IN6_IS_ADDR_V4MAPPED(in)) {
		memcpy(&addr, in->s6_addr + 12, sizeof(addr));
		return addr_set_v4(p, ntohl(addr));
	}
	*p = (struct client_addr){ .nkey = sizeof(p->key) };
	memcpy(p->key, in->s6_addr, sizeof(p->key));
	inet_ntop(AF_INET6, in, p->text, sizeof(p->text));
	return RC_OK;
}

/* Whether s is ":" and a port, or nothing. */
static bool
addr_is_port(struct str s)
{
	int64_t port;

	if (s.n == 0)
		return true;
	return s.p[0] == ':' &&
	    str_to_i64((struct str){ s.p + 1, s.n - 1 }, 0, 65535, &port) ==
	    RC_OK;
}

enum rc
client_addr_parse(struct str s, struct client_addr *p)
{
	struct in6_addr in;
	uint32_t addr;
	ptrdiff_t end;

	if (s.n > 0 && s.p[0] == '[') {
		end = str_find(s, STR("]"));
		if (end < 0)
			return RC_INVALID;
		size_t n = (size_t)end;
		if (!addr_is_port((struct str){ s.p + n + 1, s.n - n - 1 }) ||
		    addr_parse_v6((struct str){ s.p + 1, n - 1 }, &in) != RC_OK)
			return RC_INVALID;
		return addr_set_v6(p, &in);
	}
	if (addr_parse_v6(s, &in) == RC_OK)
		return addr_set_v6(p, &in);
	end = str_find(s, STR(":"));
	size_t n = end < 0 ? s.n : (size_t)end;
	if (n < s.n && !addr_is_port((struct str){ s.p + n, s.n - n }))
		return RC_INVALID;
	if (addr_parse_v4((struct str){ s.p, n }, &addr) != RC_OK)
		return RC_INVALID;
	return addr_set_v4(p, addr);
}

static enum rc
proxy_net_parse(struct str s, uint32_t *addr, uint32_t *mask)
{
	struct str bits = s;
	struct str name = str_split(&bits, '/');
	int64_t n = 32;

	if (addr_parse_v4(name, addr) != RC_OK)
		return RC_INVALID;
	if (bits.p != NULL && str_to_i64(bits, 0, 32, &n) != RC_OK)
		return RC_INVALID;
	*mask = n == 0 ? 0 : UINT32_MAX << (32 - n);
	return (*addr & ~*mask) == 0 ? RC_OK : RC_INVALID;
}

enum rc
proxy_nets_parse(struct str list, struct proxy_nets *nets)
{
	nets->n = 0;
	if (str_trim(list).n == 0)
		return RC_OK;
	while (list.p != NULL) {
		struct str s = str_trim(str_split(&list, ','));
		size_t i = nets->n;

		if (i == PROXY_NETS_MAX)
			return RC_TOOBIG;
		if (proxy_net_parse(
			s, &nets->net[i].addr, &nets->net[i].mask) != RC_OK)
			return RC_INVALID;
		nets->n++;
	}
	return RC_OK;
}

bool
proxy_nets_contain(const struct proxy_nets *nets, uint32_t addr)
{
	size_t i;

	for (i = 0; i < nets->n; i++)
		if ((addr & nets->net[i].mask) == nets->net[i].addr)
			return true;
	return false;
}

/* Remove and return the entry after *list's last comma. */
static struct str
forwarded_pop_last(struct str *list)
{
	size_t at = list->n;

	while (at > 0 && list->p[at - 1] != ',')
		at--;
	struct str last = { list->p + at, list->n - at };
	*list = at > 0 ? (struct str){ list->p, at - 1 } : (struct str){ 0 };
	return str_trim(last);
}

/* Set p to the previous hop; false when p is the client. */
static bool
forwarded_step(
    struct client_addr *p, struct str entry, const struct proxy_nets *nets)
{
	struct client_addr before;

	if (client_addr_parse(entry, &before) != RC_OK)
		return false;
	*p = before;
	return p->v4 && proxy_nets_contain(nets, p->addr);
}

enum rc
client_addr_find(struct client_addr *p, struct str direct,
    const struct proxy_nets *nets, const struct header_field *fields, size_t n)
{
	enum rc rc = client_addr_parse(direct, p);

	if (rc != RC_OK || !p->v4 || !proxy_nets_contain(nets, p->addr))
		return rc;
	while (n > 0) {
		const struct header_field *f = &fields[--n];

		if (!str_eq_nocase(f->name, STR("X-Forwarded-For")))
			continue;
		struct str list = f->value;
		while (list.p != NULL)
			if (!forwarded_step(p, forwarded_pop_last(&list), nets))
				return RC_OK;
	}
	return RC_OK;
}
