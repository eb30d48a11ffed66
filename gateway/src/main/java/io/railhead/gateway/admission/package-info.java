/** How much is taken on at a time, and how tenants share it. */
@NullMarked
package io.railhead.gateway.admission;

import org.jspecify.annotations.NullMarked;
