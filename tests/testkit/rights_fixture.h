/*
 * rights_fixture: a connection that speaks a server's protocol in bytes, and
 * the tables of the services' permissions.
 */
#ifndef TESTKIT_RIGHTS_FIXTURE_H
#define TESTKIT_RIGHTS_FIXTURE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testkit/rights.h"

struct rights_fixture {
	int fd;
	char reply[16384]; /* the last one */
};

/* Send text, and read until the received bytes contain end. */
__attribute__((format(printf, 3, 4))) const char *rights_fixture_request(
    struct rights_fixture *r, const char *end, const char *fmt, ...);

void rights_fixture_open(struct rights_fixture *r, int port);

void rights_fixture_close(struct rights_fixture *r);

json_t *rights_fixture_tables(void);

const char *rights_fixture_member(const json_t *e, const char *member);

bool rights_fixture_lists(const json_t *e, const char *member, const char *s);

/* The template, with id in each place between the characters open and close. */
const char *rights_fixture_fill(
    const char *template, char open, char close, const char *with);

#endif /* !TESTKIT_RIGHTS_FIXTURE_H */
