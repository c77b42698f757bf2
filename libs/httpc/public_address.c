#include "httpc/public_address.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "core/mem.h"

#define IP4(a, b, c, d) \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))

/* The IANA registry of special-purpose addresses; bits of the prefix. */
static const struct {
	uint32_t prefix;
	unsigned bits;
} public_denied4[] = {
	{ IP4(0, 0, 0, 0), 8 }, { IP4(10, 0, 0, 0), 8 },
	{ IP4(100, 64, 0, 0), 10 }, { IP4(127, 0, 0, 0), 8 },
	{ IP4(169, 254, 0, 0), 16 }, { IP4(172, 16, 0, 0), 12 },
	{ IP4(192, 0, 0, 0), 24 }, { IP4(192, 0, 2, 0), 24 },
	{ IP4(192, 88, 99, 0), 24 }, { IP4(192, 168, 0, 0), 16 },
	{ IP4(198, 18, 0, 0), 15 }, { IP4(198, 51, 100, 0), 24 },
	{ IP4(203, 0, 113, 0), 24 },
	{ IP4(224, 0, 0, 0), 3 }, /* multicast, reserved, broadcast */
};

static const struct {
	unsigned char prefix[6];
	unsigned bits;
} public_denied6[] = {
	{ { 0x20, 0x01, 0x00 }, 23 },       /* Teredo and other protocols */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
	{ { 0x20, 0x02 }, 16 },             /* 6to4 */
	{ { 0x3f, 0xff, 0x00 }, 20 },       /* documentation */
};

static bool
public_is4(const unsigned char b[4])
{
	uint32_t a = IP4(b[0], b[1], b[2], b[3]);
	size_t i;

	for (i = 0; i < NELEM(public_denied4); i++)
		if ((a ^ public_denied4[i].prefix) >>
			(32 - public_denied4[i].bits) ==
		    0)
			return false;
	return true;
}

static bool
public_has_prefix(
    const unsigned char *a, const unsigned char *prefix, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(a, prefix, whole) == 0 &&
	    (rest == 0 || (a[whole] ^ prefix[whole]) >> (8 - rest) == 0);
}

static bool
public_is6(const unsigned char a[16])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff },
				   nat64[12] = { 0, 0x64, 0xff, 0x9b };
	size_t i;

	if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0)
		return public_is4(a + 12);
	if ((a[0] & 0xe0) != 0x20)
		return false;
	for (i = 0; i < NELEM(public_denied6); i++)
		if (public_has_prefix(
			a, public_denied6[i].prefix, public_denied6[i].bits))
			return false;
	return true;
}

bool
public_address_is(const struct sockaddr *addr)
{
	struct sockaddr_in a4;
	struct sockaddr_in6 a6;

	switch (addr->sa_family) {
	case AF_INET:
		memcpy(&a4, addr, sizeof(a4));
		return public_is4((const unsigned char *)&a4.sin_addr);
	case AF_INET6:
		memcpy(&a6, addr, sizeof(a6));
		return public_is6(a6.sin6_addr.s6_addr);
	default:
		return false;
	}
}
