package io.railhead.gateway.authorization;

/** The policy that a caller gives its own role session: it narrows the site's. */
public final class SessionPolicy {

    private SessionPolicy() {}

    /** @throws IllegalArgumentException one line with the fault of a policy that cannot be held */
    public static void require(String json) {
        PolicyReader.readSession(json);
    }

    /** Reads a session's policy; one that an older gateway took and this one cannot denies all. */
    static Policy read(String json) {
        try {
            return PolicyReader.readSession(json);
        } catch (IllegalArgumentException e) {
            return Policy.DENIES_ALL;
        }
    }
}
