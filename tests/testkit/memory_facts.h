/*
 * memory_facts: facts that a summary may state about a user, and questions
 * about each in other words.
 */
#ifndef TESTKIT_MEMORY_FACTS_H
#define TESTKIT_MEMORY_FACTS_H

#define MEMORY_FACTS_N 40

struct memory_fact {
	const char *text;
	const char *query[2];
};

extern const struct memory_fact memory_facts[MEMORY_FACTS_N];

#endif /* !TESTKIT_MEMORY_FACTS_H */
