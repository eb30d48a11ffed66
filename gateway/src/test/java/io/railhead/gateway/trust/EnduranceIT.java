package io.railhead.gateway.trust;

import io.railhead.gateway.Operators;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators do while clients are at work: none of them sees an error for good. */
@Tag("long")
class EnduranceIT {
    @TempDir
    private Path folder;

    private Operators operators;

    @BeforeEach
    void start() {
        operators = new Operators(folder);
    }

    @AfterEach
    void stop() {
        operators.close();
    }

    @Test
    void aRollingRestartFailsNobodyWhoTriesAgainAsSdksDo() throws Exception {
        operators.restartOneAfterAnother();
    }

    @Test
    void whoWaitsForAGatewayThatWasKilledGetsAllOfIt() throws Exception {
        operators.killAndStartAgain();
    }

    @Test
    void rulesAndStoresThatChangeFailNobody() throws Exception {
        operators.changeRules();
    }

    @Test
    void filesThatChangeFailNobody() throws Exception {
        operators.changeFiles();
    }
}
