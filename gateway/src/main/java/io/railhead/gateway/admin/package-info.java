/** Health, readiness and metrics, on a port of their own. */
@NullMarked
package io.railhead.gateway.admin;

import org.jspecify.annotations.NullMarked;
