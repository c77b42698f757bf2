/*
 * slot: the slots of keys and of commands.
 */
#include "state/cluster.h"

uint16_t
slot_crc16(struct str s)
{
	/* Four bits at a time. */
	static const uint16_t nibble[16] = { 0x0000, 0x1021, 0x2042, 0x3063,
		0x4084, 0x50a5, 0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b,
		0xc18c, 0xd1ad, 0xe1ce, 0xf1ef };
	unsigned crc = 0, byte;
	size_t i;

	for (i = 0; i < s.n; i++) {
		byte = (unsigned char)s.p[i];
		crc = (crc << 4) ^ nibble[((crc >> 12) ^ (byte >> 4)) & 15];
		crc &= 0xffff;
		crc = (crc << 4) ^ nibble[((crc >> 12) ^ byte) & 15];
		crc &= 0xffff;
	}
	return (uint16_t)crc;
}

int
slot_of_key(struct str key)
{
	const char *open = key.n > 0 ? memchr(key.p, '{', key.n) : NULL;
	const char *end = NULL;

	if (open != NULL)
		end = memchr(open + 1, '}', key.n - (size_t)(open + 1 - key.p));
	/* An empty tag is none. */
	if (end != NULL && end > open + 1)
		key = (struct str){ open + 1, (size_t)(end - open - 1) };
	return slot_crc16(key) % CLUSTER_SLOTS;
}

/* Commands whose first argument is no key. */
static bool
slot_is_keyless(struct str name)
{
	static const struct str names[] = { STR_INIT("PING"), STR_INIT("ECHO"),
		STR_INIT("TIME"), STR_INIT("INFO"), STR_INIT("CLIENT"),
		STR_INIT("CONFIG"), STR_INIT("CLUSTER"), STR_INIT("SCRIPT"),
		STR_INIT("ACL"), STR_INIT("ROLE"), STR_INIT("WAIT"),
		STR_INIT("DBSIZE"), STR_INIT("SCAN"), STR_INIT("COMMAND"),
		STR_INIT("PUBLISH"), STR_INIT("FLUSHALL"), STR_INIT("DEBUG") };
	size_t i;

	for (i = 0; i < NELEM(names); i++)
		if (str_eq_nocase(name, names[i]))
			return true;
	return false;
}

int
slot_of_command(const struct str *args, size_t n)
{
	struct str name = n > 0 ? args[0] : STR("");
	size_t i;

	if (str_eq_nocase(name, STR("EVAL")) ||
	    str_eq_nocase(name, STR("EVALSHA")))
		return n > 3 && !str_eq(args[2], STR("0"))
		    ? slot_of_key(args[3])
		    : SLOT_ANY;
	if (str_eq_nocase(name, STR("XREAD")) ||
	    str_eq_nocase(name, STR("XREADGROUP"))) {
		for (i = 1; i + 1 < n; i++)
			if (str_eq_nocase(args[i], STR("STREAMS")))
				return slot_of_key(args[i + 1]);
		return SLOT_ANY;
	}
	if (str_eq_nocase(name, STR("XGROUP")) ||
	    str_eq_nocase(name, STR("XINFO")) ||
	    str_eq_nocase(name, STR("OBJECT")))
		return n > 2 ? slot_of_key(args[2]) : SLOT_ANY;
	if (n < 2 || slot_is_keyless(name))
		return SLOT_ANY;
	return slot_of_key(args[1]);
}

int
slot_of_keys(const struct str *keys, size_t n, size_t *other)
{
	int slot;
	size_t i;

	if (n == 0)
		return SLOT_ANY;
	slot = slot_of_key(keys[0]);
	for (i = 1; i < n; i++)
		if (slot_of_key(keys[i]) != slot) {
			*other = i;
			return SLOT_MIXED;
		}
	return slot;
}
