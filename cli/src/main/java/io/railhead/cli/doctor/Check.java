package io.railhead.cli.doctor;

import io.railhead.gateway.config.MachineNeeds;
import java.util.List;

/** Compares one side of a machine with what a gateway needs of it; changes nothing. */
@FunctionalInterface
interface Check {
    List<Finding> run(Host host, MachineNeeds needs);
}
