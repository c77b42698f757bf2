/*
 * The client's address: parsing, networks of trusted proxies, X-Forwarded-For.
 * Pure.
 */
#ifndef HTTP_CLIENT_ADDRESS_H
#define HTTP_CLIENT_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

/* Room for an address as text, NUL included. */
#define CLIENT_ADDR_TEXT_MAX 46
/* Networks in one list. */
#define PROXY_NETS_MAX 32

struct header_field;

struct client_addr {
	char text[CLIENT_ADDR_TEXT_MAX]; /* as inet_ntop() writes it */
	bool v4;
	uint32_t addr; /* of v4: host order */
	/*
	 * Key of limits: the address, of IPv6 the first 64 bits, since one host
	 * is assigned that many.
	 */
	unsigned char key[8];
	size_t nkey;
};

struct proxy_nets {
	struct {
		uint32_t addr, mask; /* host order */
	} net[PROXY_NETS_MAX];
	size_t n;
};

/*
 * client_addr_parse(s, p):
 * "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]" or that with a
 * port; an IPv4-mapped IPv6 address is IPv4.  RC_INVALID for anything else.
 */
enum rc client_addr_parse(struct str s, struct client_addr *p) RC_CHECK;

/*
 * proxy_nets_parse(list, nets):
 * IPv4 networks, "10.0.0.0/8" or a single address, separated by commas; none
 * if list is empty or absent.  RC_INVALID for anything else, also for bits
 * outside the mask; RC_TOOBIG for too many.
 */
enum rc proxy_nets_parse(struct str list, struct proxy_nets *nets) RC_CHECK;

/* proxy_nets_contain(nets, addr): Whether addr (host order) is in one. */
bool proxy_nets_contain(const struct proxy_nets *nets, uint32_t addr);

/*
 * client_addr_find(p, direct, nets, fields, n):
 * The client: direct, the address that is connected; if that is a trusted
 * proxy's, the last of X-Forwarded-For (all its fields joined) that is not.
 * Before an unreadable entry it is the proxy that wrote the entry.  RC_INVALID
 * if direct is not an address.
 */
enum rc client_addr_find(struct client_addr *p, struct str direct,
    const struct proxy_nets *nets, const struct header_field *fields,
    size_t n) RC_CHECK;

#endif /* !HTTP_CLIENT_ADDRESS_H */
