'use strict';
// Runs a program of the package for this platform. No node process stays between an agent and the program for long: hooks
// that `checkpointd init` adds call the program itself.
const { spawn } = require('node:child_process');

module.exports = (name) => {
    const platform = `@checkpointd/${process.platform}-${process.arch}`;
    let program;
    try {
        program = require.resolve(`${platform}/bin/${name}`);
    } catch {
        console.error(`error: ${platform} is not installed: there is none for this platform, or npm left out optional dependencies`);
        console.error('hint: install without `--omit=optional`, or see https://github.com/checkpointd/checkpointd#readme');
        // A hook that fails would stop its agent.
        process.exit(name === 'checkpointd-hook' ? 0 : 1);
    }
    const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
    // Ctrl-C reaches both; what is sent to this process alone is passed on.
    process.on('SIGINT', () => {});
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('error', (error) => {
        console.error(`error: ${program} cannot be run: ${error.message}`);
        process.exit(1);
    });
    child.on('exit', (code, signal) => {
        if (!signal) process.exit(code);
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
    });
};
