// Made by `offshoot integrate opencode`, removed by `offshoot integrate opencode --remove`.
// Asks Offshoot's policy about each shell command before it runs.
import { spawnSync } from "node:child_process"

const PROGRAM = @PROGRAM@

export const Offshoot = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    if (input.tool !== "bash") return
    const question = JSON.stringify({ tool_name: "bash", tool_input: output.args, cwd: output.args.workdir ?? directory })
    const asked = spawnSync(PROGRAM, ["hook", "opencode"], { input: question, cwd: directory, encoding: "utf8", timeout: 30000 })
    if (asked.error || asked.status !== 0) {
      throw new Error(`offshoot hook failed: ${asked.error?.message ?? asked.stderr}`)
    }
    const answer = asked.stdout.trim() === "" ? {} : JSON.parse(asked.stdout)
    if (answer.decision === "deny") throw new Error(answer.reason)
  },
})
