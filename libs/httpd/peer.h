/*
 * peer: whose request it is: addresses, networks of trusted proxies, and what
 * these say in X-Forwarded-For.  Pure.
 */
#ifndef HTTPD_PEER_H
#define HTTPD_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "httpd/head.h"

/* Room for an address as text, NUL included. */
#define PEER_TEXT_MAX 46
/* Most networks of a list. */
#define PEER_NETS_MAX 32

struct peer {
	char text[PEER_TEXT_MAX]; /* as inet_ntop() writes it */
	bool v4;
	uint32_t addr; /* of v4: host order */
	/*
	 * What limits are counted by: the address, of IPv6 its first 64 bits,
	 * since that many are given to one host.
	 */
	unsigned char key[8];
	size_t nkey;
};

struct peer_nets {
	struct {
		uint32_t addr, mask; /* host order */
	} net[PEER_NETS_MAX];
	size_t n;
};

/*
 * peer_read(s, p):
 * "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]" or that with a
 * port; an IPv4 address within IPv6 is IPv4.  RC_INVALID: none of them.
 */
enum rc peer_read(struct str s, struct peer *p) RC_CHECK;

/*
 * peer_nets_read(list, nets):
 * Networks of IPv4, "10.0.0.0/8" or an address alone, separated by commas;
 * none if list is empty or absent.  RC_INVALID for anything else, bits beyond
 * the mask among it; RC_TOOBIG for too many.
 */
enum rc peer_nets_read(struct str list, struct peer_nets *nets) RC_CHECK;

/* peer_nets_have(nets, addr): Whether addr (host order) is in one of them. */
bool peer_nets_have(const struct peer_nets *nets, uint32_t addr);

/*
 * peer_find(p, direct, nets, fields, n):
 * The client: direct, the address that is connected; if that is a trusted
 * proxy's, the last of X-Forwarded-For (all its fields joined) that is not.
 * Where an entry cannot be read the client is the proxy that wrote it.
 * RC_INVALID if direct is no address.
 */
enum rc peer_find(struct peer *p, struct str direct,
    const struct peer_nets *nets, const struct head_field *fields,
    size_t n) RC_CHECK;

#endif /* !HTTPD_PEER_H */
