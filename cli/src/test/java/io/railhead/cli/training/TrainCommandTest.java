package io.railhead.cli.training;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrainCommandTest {

    /** Each request is answered, or it throws: nothing is trained on failures. */
    @Test
    void whatGatewaysDoIsDone() throws Exception {
        assertThat(new TrainCommand().call()).isZero();
    }
}
