package io.railhead.gateway.audit;

import io.railhead.gateway.audit.AuditKind.Activity;
import io.railhead.gateway.identity.CredentialChange;
import io.railhead.gateway.identity.Role;
import java.util.Set;

/** The events of a reload that removed, altered or added principals and roles. */
public final class KeyChanges {
    /** A revocation of a whole site must not push other events out of the queue. */
    private static final int MAX_NAMED = 1000;

    private KeyChanges() {}

    /** Records an event for each principal and role, up to a bound, and the number of others. */
    public static void tell(CredentialChange change, Audit audit) {
        int others = tell(change.vanished(), Activity.DELETE_ACCOUNT,
                " is gone: its sessions end", audit)
                + tell(change.changed(), Activity.OTHER,
                        "'s keys or rights have changed: sessions that depend on them end", audit)
                + tell(change.added(), Activity.CREATE, " is new", audit);
        if (others > 0) {
            audit.record(AuditEvent.accepted(AuditKind.KEY_CHANGED, others
                    + " more principals and roles are gone, have changed or are new"));
        }
    }

    /** Returns the number of names that have no event of their own. */
    private static int tell(Set<String> names, int activity, String message, Audit audit) {
        names.stream()
                .limit(MAX_NAMED)
                .forEach(name -> audit.record(about(name, message).doing(activity)));
        return Math.max(0, names.size() - MAX_NAMED);
    }

    private static AuditEvent about(String name, String message) {
        String type = name.startsWith(Role.PREFIX) ? "role" : "principal";
        return AuditEvent.accepted(AuditKind.KEY_CHANGED, "the " + type + message)
                .by(name, "", null)
                .on(type, name);
    }
}
