/** Gateways over a store in memory: the training run of the AOT cache, and the warm-up. */
@NullMarked
package io.railhead.cli.training;

import org.jspecify.annotations.NullMarked;
