/*
 * desc: the tables that the generator writes and the interpreter reads.
 *
 * Everything here is constant data in the generated wire/msgs.c; services see
 * only struct wire_desc's name (wire/wire.h).
 */
#ifndef WIRE_DESC_H
#define WIRE_DESC_H

#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* The C type that holds a value. */
enum wire_kind {
	WIRE_STR,    /* struct str */
	WIRE_ENUM,   /* enum wire_x, as int */
	WIRE_I64,    /* int64_t */
	WIRE_F64,    /* double */
	WIRE_BOOL,   /* bool */
	WIRE_OBJECT, /* struct wire_x */
	WIRE_ARRAY,  /* T *, and size_t n_x beside it */
	WIRE_RAW     /* struct str: JSON text */
};

/* Which characters a text may have: the supported values of "pattern". */
enum wire_chars {
	WIRE_CHARS_ANY,
	WIRE_CHARS_ID,       /* no control characters, not empty */
	WIRE_CHARS_TERMINAL, /* nor / + # */
	WIRE_CHARS_SNAKE,    /* a-z 0-9 _ */
	WIRE_CHARS_TOKEN,    /* A-Z a-z 0-9 _ - */
	WIRE_CHARS_HEX32,    /* 32 of 0-9 a-f */
	WIRE_CHARS_HEX64     /* 64 of them */
};

/* What a raw value may be. */
enum wire_json { WIRE_JSON_ANY, WIRE_JSON_OBJECT, WIRE_JSON_ARRAY };

union wire_num {
	int64_t i;
	double f;
};

/* A value's type and bounds: of a member, or of an array's element. */
struct wire_type {
	uint8_t kind;  /* enum wire_kind */
	uint8_t chars; /* enum wire_chars */
	uint8_t json;  /* enum wire_json */
	uint16_t n_names;
	uint32_t size;      /* sizeof the C type; of an array, of one element */
	uint32_t max_bytes; /* of a text; 0: no bound but max */
	/* Inclusive: value (.f for WIRE_F64), code points, or elements. */
	union wire_num min, max;
	const struct str *names;        /* WIRE_ENUM: by value */
	const struct wire_desc *object; /* WIRE_OBJECT */
	const struct wire_type *elem;   /* WIRE_ARRAY */
};

/* Flags of a member. */
#define WIRE_REQUIRED 1
#define WIRE_DEFAULT  2 /* absent means dflt or dflt_s */
#define WIRE_SECRET   4 /* never logged */

/* No such offset: the struct has no has_x, or no n_x. */
#define WIRE_NONE UINT32_MAX

/* A member of an object. */
struct wire_field {
	struct str name;
	struct str key; /* as written: comma, quoted name, colon */
	uint32_t off;   /* of x */
	uint32_t has;   /* of has_x, or WIRE_NONE */
	uint32_t count; /* of n_x, or WIRE_NONE */
	uint32_t flags;
	struct wire_type type;
	union wire_num dflt; /* .i also for WIRE_BOOL and WIRE_ENUM */
	struct str dflt_s;
};

/* Flags of a message. */
#define WIRE_TEXT     1 /* bare text; the struct has the one member "value" */
#define WIRE_LIST     2 /* a bare array stands for fields[list] alone */
#define WIRE_DEFAULTS 4 /* it or an object in it has a default */

/* Most members of one object. */
#define WIRE_FIELDS_MAX 64

struct wire_desc {
	const char *name;
	const struct wire_field *fields;
	uint32_t n; /* fields */
	uint32_t size;
	uint16_t flags;
	uint16_t list;
	uint64_t required; /* bit i: fields[i] */
	uint64_t choice;   /* of these fields exactly one is there; 0: none */
};

/* All messages in byte order of their names (generated). */
extern const struct wire_desc *const wire_descs[];
extern const size_t wire_descs_n;

#endif /* !WIRE_DESC_H */
