package io.railhead.gateway.authorization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.identity.RoleSession;
import io.railhead.gateway.request.RequestSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns of policies, and the values that stand in them. */
class WildcardTest {
    /** Far above what it takes, and far below what the attack took. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static RequestSource sender(String ref) {
        RoleSession session = new RoleSession("pods", 0, "pod", "x", Instant.EPOCH, Instant.EPOCH,
                Map.of("ref", ref), null);
        return new RequestSource("pods/x", "t", null, true, session, "");
    }

    /** A value with a slash would end the bucket's name and begin its keys. */
    @ParameterizedTest
    @CsvSource({"main,main,x,true", "main,other,x,false", "victim/secret,victim,secret/x,false"})
    void aClaimStaysInItsBucket(String ref, String bucket, String key, boolean matches) {
        assertThat(Wildcard.parseResource("${claim:ref}/*").matches(sender(ref), bucket, key))
                .isEqualTo(matches);
    }

    /** In a key it is a path like any other. */
    @Test
    void aClaimWithASlashMayNameAKey() {
        Wildcard pattern = Wildcard.parseResource("ci/${claim:ref}/*");
        assertThat(pattern.matches(sender("group/project"), "ci", "group/project/x")).isTrue();
        assertThat(pattern.matches(sender("group/project"), "ci", "group/other/x")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"b/${*},b,*,true", "b/${*},b,x,false", "b/${?}x,b,?x,true", "b/${?}x,b,yx,false",
            "b/${$}{x},b,${x},true", "b/${*}*,b,*abc,true"})
    void escapesAreTheCharacterAlone(String pattern, String bucket, String key,
            boolean matches) {
        assertThat(Wildcard.parseResource(pattern).matches(sender("x"), bucket, key))
                .isEqualTo(matches);
    }

    @Test
    void whatStandsForAnEscapeIsRefused() {
        assertThatThrownBy(() -> Wildcard.parse("b/\uE000"))
                .hasMessageContaining("private use");
    }

    /** A session's owner writes its policy: no pattern may keep a thread for long. */
    @Test
    void noPatternTakesLong() {
        String key = "*".repeat(1000) + "a".repeat(24);
        Wildcard escapes = Wildcard.parseResource("b/*" + "${*}".repeat(460) + "x");
        Wildcard periodic = Wildcard.parseResource("b/*" + "a".repeat(1000) + "b");
        long begun = System.nanoTime();
        for (int i = 0; i < 200; i++) {
            assertThat(escapes.matches(sender("x"), "b", key)).isFalse();
            assertThat(periodic.matches(sender("x"), "b", "a".repeat(1024))).isFalse();
        }
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(PATIENCE);
    }
}
