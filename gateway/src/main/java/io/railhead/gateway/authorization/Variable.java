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

    /** Null where the name is no variable's. */
    static @Nullable Variable named(String name) {
        return name.startsWith(CLAIM) && name.length() > CLAIM.length()
                ? new Claim(name.substring(CLAIM.length()))
                : Known.named(name);
    }

    /** A claim of the token that the sender's role session was made for; the role names it. */
    record Claim(String path) implements Variable {

        @Override
        public String value(RequestSource source) {
            RoleSession session = source.session();
            return session == null ? "" : session.claims().getOrDefault(path, "");
        }
    }

    /** Variables that every sender has, and escapes, which stand for themselves. */
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
        },
        STAR("*", "*"),
        QUESTION_MARK("?", "?"),
        DOLLAR("$", "$");

        private final String name;
        /** Another spelling; the name itself where there is none. */
        private final String alias;

        Known(String name, String alias) {
            this.name = name;
            this.alias = alias;
        }

        @Override
        public String value(RequestSource source) {
            return name;
        }

        private static @Nullable Variable named(String name) {
            return Arrays.stream(values())
                    .filter(variable -> variable.name.equals(name) || variable.alias.equals(name))
                    .findFirst()
                    .orElse(null);
        }
    }
}
