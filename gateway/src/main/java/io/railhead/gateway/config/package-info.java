/** {@code railhead.yaml}, read strictly into records. */
@NullMarked
package io.railhead.gateway.config;

import org.jspecify.annotations.NullMarked;
