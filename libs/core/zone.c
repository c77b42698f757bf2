/*
 * Reading TZif files (RFC 8536): the block with 64-bit times.
 */
#include "core/zone.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/str.h"

#define FOLDER         "/usr/share/zoneinfo/"
#define NAME_MAX_BYTES 64
#define FILE_MAX_BYTES (64 * 1024)
#define HEADER_BYTES   44

struct zone {
	char *name;
	size_t n;        /* transitions */
	int64_t *at;     /* their times in seconds, ascending */
	int32_t *offset; /* n + 1, in seconds; [0] is before the first */
};

/* Counts in the header of a block, in file order. */
struct counts {
	size_t isut, isstd, leap, time, type, chars;
};

static bool
zone_name_valid(const char *name)
{
	size_t i;

	for (i = 0; name[i] != '\0'; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && strchr("+-_/", c) == NULL)
			return false;
	}
	return i > 0 && i <= NAME_MAX_BYTES && name[0] != '/';
}

static size_t
zone_be32(const unsigned char *p)
{
	return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
	    p[3];
}

static int64_t
zone_be64(const unsigned char *p)
{
	return (int64_t)((uint64_t)zone_be32(p) << 32 | zone_be32(p + 4));
}

/* Read the header at p; false if it or its block is not valid. */
static bool
zone_read_header(const unsigned char *p, const unsigned char *end,
    size_t time_bytes, struct counts *c, size_t *block)
{
	if ((size_t)(end - p) < HEADER_BYTES || memcmp(p, "TZif", 4) != 0)
		return false;
	*c = (struct counts){ zone_be32(p + 20), zone_be32(p + 24),
		zone_be32(p + 28), zone_be32(p + 32), zone_be32(p + 36),
		zone_be32(p + 40) };
	if (c->time > FILE_MAX_BYTES || c->type == 0 || c->type > 256 ||
	    c->chars > FILE_MAX_BYTES || c->leap > FILE_MAX_BYTES)
		return false;
	*block = c->time * (time_bytes + 1) + c->type * 6 + c->chars +
	    c->leap * (time_bytes + 4) + c->isstd + c->isut;
	return *block <= (size_t)(end - p) - HEADER_BYTES;
}

/* Seconds east of UTC of the i-th local time type. */
static int32_t
zone_type_offset(const unsigned char *types, size_t i)
{
	return (int32_t)zone_be32(types + i * 6);
}

static bool
zone_read_block(struct zone *z, const unsigned char *p, const struct counts *c)
{
	const unsigned char *index = p + c->time * 8;
	const unsigned char *types = index + c->time;
	size_t i;

	z->n = c->time;
	z->at = mem_calloc(c->time, sizeof(*z->at));
	z->offset = mem_calloc(c->time + 1, sizeof(*z->offset));
	z->offset[0] = zone_type_offset(types, 0);
	for (i = 0; i < c->time; i++) {
		if (index[i] >= c->type)
			return false;
		z->at[i] = zone_be64(p + i * 8);
		z->offset[i + 1] = zone_type_offset(types, index[i]);
	}
	return true;
}

static bool
zone_parse(struct zone *z, const unsigned char *p, size_t n)
{
	const unsigned char *end = p + n;
	struct counts c;
	size_t block;

	/* Skip the first block, which has 32-bit times. */
	if (!zone_read_header(p, end, 4, &c, &block) || p[4] < '2')
		return false;
	p += HEADER_BYTES + block;
	return zone_read_header(p, end, 8, &c, &block) &&
	    zone_read_block(z, p + HEADER_BYTES, &c);
}

static enum rc
zone_read_file(const char *path, unsigned char *dst, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return RC_NOENT;
	got = read(fd, dst, FILE_MAX_BYTES);
	close(fd);
	if (got < 0)
		return RC_NOENT;
	*n = (size_t)got;
	return RC_OK;
}

enum rc
zone_load(const char *name, struct zone **out)
{
	char path[sizeof(FOLDER) + NAME_MAX_BYTES];
	unsigned char *file;
	struct zone *z;
	size_t n;
	enum rc rc;

	if (!zone_name_valid(name))
		return RC_INVALID;
	snprintf(path, sizeof(path), FOLDER "%s", name);
	file = mem_alloc(FILE_MAX_BYTES);
	rc = zone_read_file(path, file, &n);
	if (rc == RC_OK) {
		z = mem_zalloc(sizeof(*z));
		z->name = mem_strdup(name);
		if (zone_parse(z, file, n)) {
			*out = z;
		} else {
			zone_free(z);
			rc = RC_BUG;
		}
	}
	free(file);
	return rc;
}

void
zone_free(struct zone *z)
{
	if (z == NULL)
		return;
	free(z->name);
	free(z->at);
	free(z->offset);
	free(z);
}

const char *
zone_name(const struct zone *z)
{
	return z->name;
}

/* Seconds since 1970, rounded down. */
static int64_t
zone_seconds(struct wall t)
{
	return (t.ms - (t.ms < 0 ? 999 : 0)) / 1000;
}

static int64_t
zone_offset_at(const struct zone *z, int64_t s)
{
	size_t lo = 0, hi = z->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (z->at[mid] <= s)
			lo = mid + 1;
		else
			hi = mid;
	}
	return z->offset[lo];
}

int
zone_offset_min(const struct zone *z, struct wall t)
{
	return (int)(zone_offset_at(z, zone_seconds(t)) / 60);
}

int64_t
zone_local_of(const struct zone *z, struct wall t)
{
	int64_t s = zone_seconds(t);

	return s + zone_offset_at(z, s);
}

struct wall
zone_wall_of(const struct zone *z, int64_t local_s)
{
	/* Transitions are more than two days apart. */
	int64_t before = zone_offset_at(z, local_s - 86400);
	int64_t after = zone_offset_at(z, local_s + 86400);
	int64_t s = local_s - before;

	if (zone_offset_at(z, s) != before &&
	    zone_offset_at(z, local_s - after) == after)
		s = local_s - after;
	return (struct wall){ s * 1000 };
}
