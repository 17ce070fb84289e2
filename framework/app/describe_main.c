/* describe_main.c - `loom describe` by itself: the launcher builds this if there is no build yet,
 * so that the first look at a plugin takes seconds. */
#include "app/commands.h"

int main(int argc, char **argv) { return cmd_describe(argc, argv); }
