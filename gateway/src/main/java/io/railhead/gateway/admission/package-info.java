/** Admission of requests, and its division among tenants. */
@NullMarked
package io.railhead.gateway.admission;

import org.jspecify.annotations.NullMarked;
