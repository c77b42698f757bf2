/*
 * hanzi: conversion of traditional characters to simplified ones, so that one
 * spelling in a lexicon or a catalog matches both.  Covers the characters of
 * spoken commands and of datetime expressions, not all.
 */
#ifndef ZH_HANZI_H
#define ZH_HANZI_H

#include <stdbool.h>
#include <stddef.h>

/*
 * hanzi_simplify(p, n):
 * Replace the traditional characters in n bytes of UTF-8; both forms take
 * three bytes.  Returns whether there was one.  Any thread.
 */
bool hanzi_simplify(char *p, size_t n);

#endif /* !ZH_HANZI_H */
