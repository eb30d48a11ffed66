package io.railhead.gateway.authorization;

import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.request.RequestSource;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A policy variable, {@code ${NAME}}: its value is taken as it is, without wildcards. */
sealed interface Variable {
    /** The beginning of a variable that is a claim. */
    String CLAIM = "claim:";

    /** "" where the sender has none. */
    String value(RequestSource source);

    /**
     * @param inBucket whether it stands in a bucket's name
     * @return null where the name is no variable's
     */
    static @Nullable Variable named(String name, boolean inBucket) {
        return name.startsWith(CLAIM) && name.length() > CLAIM.length()
                ? new Claim(name.substring(CLAIM.length()), inBucket)
                : Known.named(name);
    }

    /**
     * A claim of the token that the sender's role session was made for; the role names it.
     *
     * @param inBucket whether it stands in a bucket's name, where a value with a slash would name
     *            another bucket and a part of the key
     */
    record Claim(String path, boolean inBucket) implements Variable {

        @Override
        public String value(RequestSource source) {
            RoleSession session = source.session();
            String value = session == null ? "" : session.claims().getOrDefault(path, "");
            return inBucket && value.indexOf('/') >= 0 ? "" : value;
        }
    }

    /** Variables that every sender has. */
    enum Known implements Variable {
        PRINCIPAL("principal", "aws:username") {
            @Override
            public String value(RequestSource source) {
                return source.principal();
            }
        },
        TENANT("tenant", "tenant") {
            @Override
            public String value(RequestSource source) {
                return source.tenant();
            }
        };

        private final String name;
        /** Another spelling; the name itself where there is none. */
        private final String alias;

        Known(String name, String alias) {
            this.name = name;
            this.alias = alias;
        }

        private static @Nullable Variable named(String name) {
            return Arrays.stream(values())
                    .filter(variable -> variable.name.equals(name) || variable.alias.equals(name))
                    .findFirst()
                    .orElse(null);
        }
    }
}
