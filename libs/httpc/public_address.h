/*
 * public_address: whether an address is one of the public internet.
 *
 * Pure; any thread.
 */
#ifndef HTTPC_PUBLIC_ADDRESS_H
#define HTTPC_PUBLIC_ADDRESS_H

#include <stdbool.h>

struct sockaddr;

/*
 * public_address_is(addr):
 * False of addresses that are private, of this host or link, shared, for
 * documentation, multicast or reserved; of IPv6 all but global unicast.  One
 * that contains an IPv4 address (mapped, NAT64) is what that is; those of 6to4
 * and Teredo are not public.
 */
bool public_address_is(const struct sockaddr *addr);

#endif /* !HTTPC_PUBLIC_ADDRESS_H */
