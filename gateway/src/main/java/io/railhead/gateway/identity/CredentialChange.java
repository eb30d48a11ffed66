package io.railhead.gateway.identity;

import java.util.Set;

/**
 * The principals and roles that a reload of {@code credentials.yaml} removed, altered or added, by
 * name; a role's begins with {@link Role#PREFIX}. Everything that was granted to the first two
 * before must be revoked.
 */
public record CredentialChange(Set<String> vanished, Set<String> changed, Set<String> added) {

    public CredentialChange {
        vanished = Set.copyOf(vanished);
        changed = Set.copyOf(changed);
        added = Set.copyOf(added);
    }

    public boolean isEmpty() {
        return vanished.isEmpty() && changed.isEmpty() && added.isEmpty();
    }
}
