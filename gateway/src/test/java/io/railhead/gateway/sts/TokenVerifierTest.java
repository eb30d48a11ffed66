package io.railhead.gateway.sts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.nimbusds.jwt.SignedJWT;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.config.GatewayConfig.Issuer;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The places of an issuer's keys, and the time that these serve. */
class TokenVerifierTest {
    private static final TokenVerifier.Times SHORT = new TokenVerifier.Times(Duration.ofMillis(20),
            Duration.ofMillis(1));

    private final TestIssuer issuer = new TestIssuer();

    @AfterEach
    void close() {
        issuer.close();
    }

    private TokenVerifier verifier(@Nullable String jwks) {
        return new TokenVerifier(new Issuer(issuer.name(), List.of(TestIssuer.AUDIENCE),
                jwks == null ? null : URI.create(jwks), null, null, null, List.of(),
                List.of("ES256"), Duration.ofSeconds(30), false), SHORT);
    }

    private static String subject(TokenVerifier verifier, SignedJWT token) {
        return verifier.verify(token).subject();
    }

    private SignedJWT token() {
        return TokenVerifier.parse(issuer.token("ml-a", "train"));
    }

    /** An issuer's outage of minutes must not end what its tokens are for. */
    @Test
    void keysOutlastAnIssuerThatIsDown() {
        TokenVerifier verifier = verifier(issuer.name() + "/keys");
        String subject = "system:serviceaccount:ml-a:train";
        assertThat(subject(verifier, token())).isEqualTo(subject);
        issuer.down(true);
        int fetched = issuer.fetches();
        TestGateway.await(() -> {
            assertThat(subject(verifier, token())).isEqualTo(subject);
            return issuer.fetches() > fetched + 1;
        });
        issuer.rotate("second");
        assertThat(catchThrowableOfType(StsRefusal.class, () -> verifier.verify(token())).code())
                .isIn(StsRefusal.Code.INVALID_IDENTITY_TOKEN,
                        StsRefusal.Code.IDP_COMMUNICATION_ERROR);
        issuer.down(false);
        TestGateway.await(() -> isVerified(verifier));
    }

    private boolean isVerified(TokenVerifier verifier) {
        try {
            return !verifier.verify(token()).subject().isEmpty();
        } catch (StsRefusal e) {
            return false;
        }
    }

    /** A key that its issuer withdrew must verify nothing for longer than keys are kept. */
    @Test
    void aKeyThatWasWithdrawnVerifiesNothingLater() {
        TokenVerifier verifier = verifier(issuer.name() + "/keys");
        SignedJWT old = token();
        verifier.verify(old);
        issuer.rotate("second");
        TestGateway.await(() -> {
            try {
                verifier.verify(old);
                return false;
            } catch (StsRefusal e) {
                return e.code() == StsRefusal.Code.INVALID_IDENTITY_TOKEN;
            }
        });
    }

    @Test
    void anotherIssuersDocumentIsNoneOfThisOne() {
        issuer.calls("https://other.test");
        assertRefused("its OpenID document names another issuer");
    }

    /** A plain connection would let anybody on its way name keys of its own. */
    @Test
    void keysOfAnotherHostComeOverTlsAlone() {
        issuer.moveKeys("http://keys.test");
        assertRefused("its OpenID document's jwks_uri is not https");
    }

    private void assertRefused(String message) {
        StsRefusal refusal = catchThrowableOfType(StsRefusal.class,
                () -> verifier(null).verify(token()));
        assertThat(refusal.code()).isEqualTo(StsRefusal.Code.IDP_COMMUNICATION_ERROR);
        assertThat(refusal.message()).contains(message);
        assertThat(issuer.fetches()).isZero();
    }
}
