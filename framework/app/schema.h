/* schema.h - `loom describe --schema`: the JSON schema of configurations. */
#ifndef LOOM_SCHEMA_H
#define LOOM_SCHEMA_H

#include "core/registry.h"

enum { DESCRIBE_TABLES_MAX = 3 };

/* A section of a configuration (cmd_describe.c). */
typedef struct described_section {
  const char *name, *title; /* "contact", "[contact.NAME]" */
  const char *kind;         /* its further keys come from a plugin of this kind; NULL: no plugin */
} described_section;
/* Section k from 0 on; NULL: there are no more. */
const described_section *describe_section_at(int k);
/* Its tables of parameters, the count of them; free(*rows) after use. */
int describe_tables(const char *name, const loom_param *params[DESCRIBE_TABLES_MAX],
                    uint32_t count[DESCRIBE_TABLES_MAX], loom_param **rows);

/* Prints JSON Schema 2020-12 of the sections and of the plugins found in r, all of them opened. */
void schema_print(const registry *r);

#endif
