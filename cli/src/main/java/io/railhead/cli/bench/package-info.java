/**
 * {@code railhead bench}: Railhead and the caches a user would take instead, side by side in one
 * run. Servers and the client are processes of their own; each round gives each contender a turn.
 */
@NullMarked
package io.railhead.cli.bench;

import org.jspecify.annotations.NullMarked;
