/** Authorization: the policy file, and the backend's permissions, remembered for a short time. */
@NullMarked
package io.railhead.gateway.authorization;

import org.jspecify.annotations.NullMarked;
