mod behaviour;
mod hostile;
