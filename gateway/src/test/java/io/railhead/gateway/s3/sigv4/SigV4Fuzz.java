package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.railhead.backend.Headers;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.TestCredentials;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.gateway.s3.body.BodyReaderFuzz;
import org.jspecify.annotations.Nullable;

/**
 * Heads, signed by header or query with either version, or not: the first line is method and
 * target, each other one a field. Nobody can sign without the key: what a signature holds for, it
 * holds for no other method and no other path.
 */
public final class SigV4Fuzz {
    private static final Authenticator AUTHENTICATOR = authenticator();

    private SigV4Fuzz() {}

    private static Authenticator authenticator() {
        CredentialStore credentials = TestCredentials.store();
        return new Authenticator(credentials, new SigV2(credentials, head -> null));
    }

    public static void fuzzerTestOneInput(byte[] input) {
        RequestHead head = head(new String(input, ISO_8859_1));
        Authentication who = tryAuthenticate(head);
        if (who == null || who instanceof Authentication.Anonymous) {
            return;
        }
        require(who.principalName().equals("alice"));
        require(!who.toString().contains(TestCredentials.SECRET_KEY));
        require(tryAuthenticate(new RequestHead(head.method() + "X", head.rawPath(),
                head.rawQuery(), head.headers())) == null);
        require(tryAuthenticate(new RequestHead(head.method(), head.rawPath() + "x",
                head.rawQuery(), head.headers())) == null);
        BodyReaderFuzz.requireRefusalOrNone(() -> BodyReader.open(who, head.headers()));
    }

    private static RequestHead head(String text) {
        String[] lines = text.split("\n", -1);
        int space = lines[0].indexOf(' ');
        String method = lines[0].substring(0, Math.max(space, 0));
        String target = lines[0].substring(space + 1);
        int mark = target.indexOf('?');
        Headers.Builder headers = Headers.builder();
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon > 0) {
                headers.add(lines[i].substring(0, colon), lines[i].substring(colon + 1).strip());
            }
        }
        return new RequestHead(method, mark < 0 ? target : target.substring(0, mark),
                mark < 0 ? null : target.substring(mark + 1), headers.build());
    }

    /** Null where it is refused. */
    private static @Nullable Authentication tryAuthenticate(RequestHead head) {
        Authentication[] who = new Authentication[1];
        BodyReaderFuzz.requireRefusalOrNone(
                () -> who[0] = AUTHENTICATOR.authenticate(head, SdkRequests.NOW));
        return who[0];
    }

    private static void require(boolean kept) {
        if (!kept) {
            throw new AssertionError();
        }
    }
}
