// What sessions need, in the order of the page, and what differs from the usual.

export const GROUPS = [
  ['you', 'Needs you', 'it asks for a permission, or has failed'],
  ['open', 'Left open', 'its agent stopped, and something that it changed is not verified'],
  ['running', 'Running', 'its agent works'],
  ['finished', 'Finished', 'its agent stopped, and you have not written since'],
  ['nothing', 'Closed or quiet', 'its agent was closed, or has been quiet for a day'],
];

export const FLAGS = {
  muted: 'its stops pass and it is not announced',
  off: 'its project is switched off',
  untrusted: 'its .checkpointd.yml is not trusted and mostly not used: checkpointd rules trust',
  unseen: 'its folder does not answer and was not looked at',
  broken: 'its .checkpointd.yml has a mistake and is not used: checkpointd status names it',
  cleared: 'its next stop passes',
  restart: 'it is being restarted',
};

// What the colors of the chart mean.
export const LEGEND = [
  ['accent', 'a message of yours, or a tool call'],
  ['bad', 'a call that failed, or a question to you'],
  ['warn', 'a checkpoint, or a call that was refused'],
  ['good', 'a checkpoint that arrived'],
  ['ink', 'the agent stopped'],
  ['soft', 'a stop that passed, and all else'],
];
